# Programs that keep, sort and align data.

compat sqlite3 needs=sqlite3
case_sqlite3() {
  cat "$input/table" "$input/table" "$input/table" >table
  under sqlite3 data.db <<END
pragma page_size = 512;
pragma threads = $threads;
pragma cache_size = 400;
pragma temp_store = 1;
create table t(a integer, b text, c integer);
.separator "\t"
.import table t
select count(*), sum(a), min(b), max(b) from t;
create index by_text on t(b, a desc);
create index by_number on t(a);
pragma integrity_check;
select c, b from t order by b desc, c limit 25;
END
}

sample_repository() {
  export GIT_CONFIG_NOSYSTEM=1 HOME=$PWD GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
  export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
  git init -q -b main repository
  cp -r "$input/tree" repository
  cd repository
  git config gc.auto 0
  git config maintenance.auto false
  git add -A
  git commit -q -m one
  for file in tree/part00/*; do echo "more of $file" >>"$file"; done
  git commit -q -a -m two
}

compat git_grep needs=git
case_git_grep() {
  sample_repository
  under git grep -n --threads "$threads" 'define [A-Z]*_H'
  under git grep -c --threads "$threads" include HEAD~1 -- '*.h'
}

compat git_pack needs=git
case_git_pack() {
  sample_repository
  git rev-list --objects --all | under git pack-objects --threads="$threads" --window=5 -q out >name
  test -s "out-$(cat name).pack"
  cp "out-$(cat name).pack" copy.pack
  under git -c pack.threads="$threads" index-pack --threads="$threads" -o copy.idx copy.pack >words
  cmp copy.idx "out-$(cat name).idx"
  git verify-pack -v copy.idx | grep -cE '^[0-9a-f]{40} '
}

compat git_repack needs=git
case_git_repack() {
  sample_repository
  under git -c pack.threads="$threads" repack -q -a -d -f
  git fsck --full --strict 2>&1
  under git -c checkout.workers="$threads" -c checkout.thresholdForParallelism=1 clone -q . ../clone
  diff -r --exclude=.git . ../clone
  git rev-parse HEAD
}

compat sort needs=sort
case_sort() {
  for i in 1 2 3 4 5 6 7 8 9 10; do cat "$input/table" "$input/table" "$input/table"; done >in
  under sort --parallel="$threads" -S 64M -k2,2 -k1,1n in | same_bytes
}

compat bwa needs=bwa
case_bwa() {
  cp "$input"/reads/* .
  bwa index genome.fa 2>words
  under bwa mem -t "$threads" -K 20000 genome.fa reads.fq 2>words | grep -v '^@PG' | same_bytes
}

compat minimap2 needs=minimap2
case_minimap2() {
  under minimap2 -t "$threads" -K 20k -x sr "$input/reads/genome.fa" "$input/reads/reads.fq" 2>words | same_bytes
}

compat samtools needs="minimap2 samtools"
case_samtools() {
  minimap2 -a -x sr "$input/reads/genome.fa" "$input/reads/reads.fq" 2>words >in.sam
  under samtools sort -@ "$threads" -m 1M --no-PG -o out.bam in.sam 2>words
  under samtools view -@ "$threads" --no-PG out.bam | same_bytes
  under samtools flagstat -@ "$threads" out.bam
}
