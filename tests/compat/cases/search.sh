# Searchers and digests: the same lines, in any order where the program promises none.

compat ripgrep needs=rg
case_ripgrep() { under rg "-j$threads" -n 'struct [a-z_]+ \{' "$input/tree" | sed "s,$input/,," | sort; }

compat ripgrep_count needs=rg
case_ripgrep_count() { under rg "-j$threads" -c --sort path define "$input/tree" | sed "s,$input/,,"; }

compat silver_searcher needs=ag
case_silver_searcher() { under ag --workers "$threads" --nocolor --noheading include "$input/tree" </dev/null | sed "s,$input/,," | sort; }

compat ugrep needs=ugrep
case_ugrep() { under ugrep "-J$threads" -rn --sort=name 'typedef.*;' "$input/tree" | sed "s,$input/,,"; }

compat fd needs=fdfind
case_fd() { under fdfind -j "$threads" -t f . "$input/tree" | sed "s,$input/,," | sort; }

compat fd_exec needs=fdfind
case_fd_exec() { under fdfind -j "$threads" -e h . "$input/tree/part00" -x wc -c | sed "s,$input/,," | sort; }

compat b3sum needs=b3sum
case_b3sum() { under b3sum --num-threads "$threads" "$input/mixed" "$input/text" "$input/noise" | sed "s,$input/,,"; }

compat hashdeep needs=hashdeep
case_hashdeep() { under hashdeep "-j$threads" -c sha256 -r "$input/tree" | grep -v '^[#%]' | sed "s,$input/,," | sort; }
