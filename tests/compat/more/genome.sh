# Programs that compare and assemble genomes; most with threads of their own, some with OpenMP.

# The genome cut into sequences of 500 letters, as FASTA.
pieces() {
  grep -v '^>' "$input/reads/genome.fa" | tr -d '\n' | fold -w 500 | sed -n "1,$1p" | awk '{ print ">piece" NR; print }'
}
# Proteins of a made alphabet: the sequences are alike in groups.
proteins() {
  awk -v count="$1" 'BEGIN {
    srand(7); letters = "ACDEFGHIKLMNPQRSTVWY"
    for (g = 0; g < 4; g++) { base[g] = ""; for (i = 0; i < 90; i++) base[g] = base[g] substr(letters, int(rand() * 20) + 1, 1) }
    for (n = 1; n <= count; n++) {
      text = base[n % 4]
      for (k = 0; k < 8; k++) { at = int(rand() * 88) + 1; text = substr(text, 1, at - 1) substr(letters, int(rand() * 20) + 1, 1) substr(text, at + 1) }
      print ">p" n; print text
    }
  }'
}

compat hmmer needs="hmmbuild hmmsearch"
case_hmmer() {
  proteins 8 | awk '/^>/ { name = substr($0, 2); next } { print name, $0 }' | awk 'NR % 4 == 1' >group
  { echo '# STOCKHOLM 1.0'; cat group; echo //; } >group.sto
  hmmbuild --cpu 1 group.hmm group.sto >words
  proteins 200 >all.fa
  under hmmsearch --cpu "$threads" --noali --tblout table group.hmm all.fa >words
  grep -v '^#' table | awk '{ print $1, $5, $6 }' | same_bytes
}

compat blast needs="blastn makeblastdb" orders="free token record"
case_blast() {
  pieces 60 >base.fa
  makeblastdb -in base.fa -dbtype nucl -out base >words
  awk 'NR % 4 == 1 { print ">" substr($1, 2) } NR % 4 == 2' "$input/reads/reads.fq" | sed -n 1,80p >reads.fa
  under blastn -db base -query reads.fa -num_threads "$threads" -outfmt "6 qseqid sseqid length pident" 2>words | same_bytes
}

compat bcftools needs="bcftools"
case_bcftools() {
  { printf '##fileformat=VCFv4.2\n##contig=<ID=1,length=1000000>\n##INFO=<ID=DP,Number=1,Type=Integer,Description="d">\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'
    awk 'BEGIN { for (i = 20000; i > 0; i--) printf "1\t%d\t.\tA\tC\t%d\tPASS\tDP=%d\n", i * 7 % 99991 + 1, i % 90, i % 60 }'; } >a.vcf
  under bcftools sort -O b -o a.bcf a.vcf 2>words
  under bcftools view --no-version --threads "$threads" -i 'INFO/DP>30' -O z -o b.vcf.gz a.bcf
  zcat b.vcf.gz | grep -v '^##bcftools' | same_bytes
}

compat mafft needs=mafft orders="free token record"
case_mafft() {
  proteins 24 >in.fa
  under mafft --quiet --thread "$threads" --retree 2 --maxiterate 0 in.fa | same_bytes
}

compat clustalo needs=clustalo orders="free token record"
case_clustalo() {
  proteins 24 >in.fa
  under clustalo -i in.fa --threads="$threads" -o out.fa --force
  same_bytes out.fa
}

compat fasttree needs=fasttreeMP orders="free token record"
case_fasttree() {
  proteins 24 >in.fa
  OMP_NUM_THREADS=$threads under fasttreeMP -quiet -nopr in.fa 2>words | same_bytes
}

compat bowtie2 needs="bowtie2 bowtie2-build" orders="free token record"
case_bowtie2() {
  bowtie2-build -q "$input/reads/genome.fa" genome >words 2>&1
  under bowtie2 -p "$threads" --reorder --no-hd -x genome -U "$input/reads/reads.fq" 2>words | same_bytes
  cat words
}

# Its table of k-mers has no locks, only compare-and-exchange.
compat jellyfish needs=jellyfish orders="free token record"
case_jellyfish() {
  under jellyfish count -m 15 -s 200k -t "$threads" -o k.jf "$input/reads/reads.fq"
  under jellyfish dump -c k.jf | sort | same_bytes
}

compat fastp needs=fastp
case_fastp() {
  under fastp -w 2 -i "$input/reads/reads.fq" -o out.fq -j out.json -h out.html 2>words
  same_bytes out.fq
}

compat vsearch needs=vsearch orders="free token record"
case_vsearch() {
  pieces 60 >base.fa
  awk 'NR % 4 == 1 { print ">" substr($1, 2) } NR % 4 == 2' "$input/reads/reads.fq" | sed -n 1,200p >reads.fa
  under vsearch --threads "$threads" --usearch_global reads.fa --db base.fa --id 0.9 --minseqlength 20 --blast6out out 2>words
  sort out | same_bytes
}

compat diamond needs=diamond orders="free token record"
case_diamond() {
  proteins 120 >all.fa
  under diamond makedb --quiet --in all.fa -d all -p "$threads" 2>words
  under diamond blastp --quiet -d all -q all.fa -p "$threads" -k 5 -f 6 qseqid sseqid length bitscore -o out 2>words
  same_bytes out
}

compat cdhit needs=cd-hit
case_cdhit() {
  proteins 300 >all.fa
  under cd-hit -i all.fa -o out -c 0.8 -T "$threads" -M 600 >words
  same_bytes out
}

compat last needs="lastdb lastal" orders="free token record"
case_last() {
  pieces 60 >base.fa
  under lastdb -P "$threads" base base.fa
  awk 'NR % 4 == 1 { print ">" substr($1, 2) } NR % 4 == 2' "$input/reads/reads.fq" | sed -n 1,200p >reads.fa
  under lastal -P "$threads" base reads.fa | grep -v '^#' | sort | same_bytes
}

compat plink needs=plink1.9
case_plink() {
  awk 'BEGIN { srand(3); for (i = 1; i <= 80; i++) { printf "f%d i%d 0 0 1 %d", i, i, i % 2 + 1; for (s = 0; s < 200; s++) printf " %s %s", rand() < .5 ? "A" : "C", rand() < .4 ? "A" : "C"; print "" } }' >d.ped
  awk 'BEGIN { for (s = 1; s <= 200; s++) print 1, "s" s, 0, s * 100 }' >d.map
  under plink1.9 --file d --threads "$threads" --memory 200 --genome --assoc --out out >words 2>&1
  same_bytes out.genome out.assoc
}

compat vina needs="vina python3" orders="free token record"
case_vina() {
  awk 'BEGIN { srand(5); for (i = 1; i <= 60; i++) printf "ATOM  %5d  C   ALA A%4d    %8.3f%8.3f%8.3f  1.00  0.00     0.000 C \n", i, i, rand() * 16, rand() * 16, rand() * 16 }' >r.pdbqt
  printf 'ROOT\nATOM      1  C   LIG A   1       8.000   8.000   8.000  1.00  0.00     0.000 C \nATOM      2  O   LIG A   1       9.200   8.000   8.000  1.00  0.00    -0.200 OA\nATOM      3  N   LIG A   1       8.000   9.300   8.000  1.00  0.00    -0.200 NA\nENDROOT\nTORSDOF 0\n' >l.pdbqt
  under vina --receptor r.pdbqt --ligand l.pdbqt --cpu "$threads" --seed 4 --exhaustiveness 4 --center_x 8 --center_y 8 --center_z 8 --size_x 14 --size_y 14 --size_z 14 --out out.pdbqt >words
  same_bytes out.pdbqt
}
