# Programs with one thread: under Weir they are what they were.

compat openssl needs=openssl
case_openssl() {
  under openssl dgst -sha256 "$input/mixed" | sed "s,$input/,,"
  under openssl enc -aes-256-ctr -K 00112233 -iv 44556677 -in "$input/mixed" 2>words | same_bytes
}

compat curl_file needs=curl
case_curl_file() { under curl -s "file://$input/mixed" | cmp - "$input/mixed"; }

compat find_xargs needs="find xargs"
case_find_xargs() {
  cd "$input"
  under find tree -type f -size +2k -print0 | sort -z | under xargs -0 -P 1 -n 10 cksum
}

compat awk_sed needs="awk sed"
case_awk_sed() {
  under awk -F'\t' '{ n[$2] += $1 } END { for (w in n) print w, n[w] }' "$input/table" | sort | under sed 's/ /:/' | same_bytes
}

compat status needs="false grep"
case_status() {
  ends_with 1 false
  ends_with 3 sh -c 'exit 3'
  ends_with 2 grep x /nonexistent 2>words
  ends_with 139 sh -c 'kill -SEGV $$' 2>words
}
