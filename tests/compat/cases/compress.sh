# Compressors: the output is the native one byte for byte where the format is deterministic,
# and what comes out of it is the input.

compat pigz needs=pigz
case_pigz() {
  under pigz -p "$threads" -b 32 <"$input/mixed" >out.gz
  same_bytes out.gz
  gzip -dc out.gz | cmp - "$input/mixed"
  under pigz -d -p "$threads" <out.gz | cmp - "$input/mixed"
}

compat pigz_independent needs=pigz
case_pigz_independent() {
  cp -r "$input/tree" tree
  under pigz -p "$threads" -i -b 128 -9 -n -r tree
  find tree -type f | sort | xargs sha256sum
  gunzip -r tree
  is_tree tree
}

compat pbzip2 needs=pbzip2
case_pbzip2() {
  under pbzip2 "-p$threads" -1 -c "$input/mixed" >out.bz2
  same_bytes out.bz2
  under pbzip2 "-p$threads" -dc out.bz2 | cmp - "$input/mixed"
}

compat pbzip2_pipe needs=pbzip2
case_pbzip2_pipe() {
  under pbzip2 "-p$threads" -b1 -c <"$input/noise" | under pbzip2 "-p$threads" -d | cmp - "$input/noise"
}

compat lbzip2 needs=lbzip2
case_lbzip2() {
  under lbzip2 -n "$threads" -1 <"$input/mixed" >out.bz2
  same_bytes out.bz2
  under lbzip2 -d -n "$threads" <out.bz2 | cmp - "$input/mixed"
}

compat plzip needs=plzip
case_plzip() {
  under plzip "-n$threads" -1 -B 128KiB <"$input/mixed" >out.lz
  same_bytes out.lz
  under plzip -d "-n$threads" <out.lz | cmp - "$input/mixed"
}

compat xz needs=xz
case_xz() {
  under xz -2 "-T$threads" --block-size=96KiB -c "$input/mixed" >out.xz
  same_bytes out.xz
  under xz "-T$threads" -dc out.xz | cmp - "$input/mixed"
}

compat pixz needs=pixz
case_pixz() {
  under pixz -1 -p "$threads" -f 0.25 -t -i "$input/mixed" -o out.xz
  same_bytes out.xz
  under pixz -d -p "$threads" -i out.xz -o out
  cmp out "$input/mixed"
}

compat zstd needs=zstd
case_zstd() {
  cat "$input/mixed" "$input/text" "$input/mixed" >in
  under zstd -q -3 "-T$threads" -B512K -c in >out.zst
  same_bytes out.zst
  under zstd -q -dc out.zst | cmp - in
}

compat lrzip needs=lrzip
case_lrzip() {
  under lrzip -q -p "$threads" -L 2 -o out.lrz "$input/mixed" >words
  under lrzip -q -p "$threads" -d -o out out.lrz >>words
  cmp out "$input/mixed"
}

# lrzip makes a short thread for every 4 KiB of input: a test of how tasks come and go.
compat lrzip_churn needs=lrzip limit=120
case_lrzip_churn() {
  for i in $(seq "$(scaled 3 14)"); do cat "$input/mixed"; done >in
  under lrzip -q -p 8 -l -w 1 -o out.lrz in >words
  under lrzip -q -p 8 -d -o out out.lrz >>words
  cmp out in
}
