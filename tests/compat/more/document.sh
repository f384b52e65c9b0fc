# Pictures, sound, documents: programs that transform files.

compat inkscape needs=inkscape limit=150 orders="free token record"
case_inkscape() {
  export HOME=$PWD
  echo '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40" fill="#fff"/><circle cx="20" cy="20" r="9" fill="#c00"/></svg>' >a.svg
  under inkscape a.svg --export-type=png --export-filename=a.png >words 2>&1
  python3 -c 'import zlib; d = open("a.png", "rb").read(); print(d[:26].hex())'
}

compat rsvg needs=rsvg-convert
case_rsvg() {
  echo '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40" fill="#fff"/><circle cx="20" cy="20" r="9" fill="#c00"/></svg>' >a.svg
  under rsvg-convert a.svg -o a.png
  same_bytes a.png
}

compat gmic needs=gmic limit=90
case_gmic() {
  export HOME=$PWD
  under gmic -v - "$input/photo.ppm" -blur 2 -sharpen 100 -resize 50%,50% -output out.ppm
  same_bytes out.ppm
}

compat sox needs=sox
case_sox() {
  under sox -R --multi-threaded -n -r 44100 -b 16 -c 4 a.wav synth 1 sine 300-3000 vol 0.5
  under sox -R --multi-threaded a.wav -r 22050 b.wav rate -v reverb
  same_bytes a.wav b.wav
}

compat flac needs="flac sox"
case_flac() {
  sox -R -n -r 44100 -b 16 -c 2 a.wav synth 1 sine 300-3000 vol 0.5
  under flac -s -8 a.wav -o a.flac
  under flac -s -d a.flac -o b.wav
  cmp a.wav b.wav
  same_bytes a.flac
}

compat lame needs="lame sox"
case_lame() {
  sox -R -n -r 44100 -b 16 -c 2 a.wav synth 1 sine 300-3000 vol 0.5
  under lame --quiet -b 128 a.wav a.mp3
  under lame --quiet --decode a.mp3 b.wav
  same_bytes a.mp3 b.wav
}

compat opus needs="opusenc opusdec sox"
case_opus() {
  sox -R -n -r 48000 -b 16 -c 2 a.wav synth 1 sine 300-3000 vol 0.5
  under opusenc --quiet --serial 7 a.wav a.opus
  under opusdec --quiet a.opus b.wav
  [ "$(stat -c %s a.opus)" -gt 5000 ]
  stat -c %s b.wav
}

compat svt_av1 needs=SvtAv1EncApp limit=120
case_svt_av1() {
  under SvtAv1EncApp -i "$input/clip.y4m" -n 4 --preset 10 --lp 2 -b out.ivf >words 2>&1
  same_bytes out.ivf
}

compat ghostscript needs="gs python3"
case_ghostscript() {
  echo '%!PS
/Times-Roman findfont 24 scalefont setfont 20 20 moveto (Weir) show 0 0 1 setrgbcolor 10 10 30 30 rectfill showpage' >a.ps
  under gs -q -dNOPAUSE -dBATCH -dNumRenderingThreads=3 -sDEVICE=ppmraw -r72 -g200x100 -sOutputFile=a.ppm a.ps
  same_bytes a.ppm
}

compat pdf needs="gs pdftoppm qpdf pdftotext"
case_pdf() {
  echo '%!PS
/Times-Roman findfont 24 scalefont setfont 20 20 moveto (Weir) show showpage' >a.ps
  gs -q -dNOPAUSE -dBATCH -sDEVICE=pdfwrite -sOutputFile=a.pdf a.ps
  under pdftoppm -r 40 a.pdf page
  under pdftotext a.pdf -
  under qpdf --static-id --object-streams=generate a.pdf b.pdf
  sha256sum page*
}

compat tesseract needs="tesseract convert" limit=90
case_tesseract() {
  convert -size 300x60 xc:white -pointsize 32 -fill black -annotate +10+40 'WEIR 2026' a.png
  under tesseract a.png out >words 2>&1
  cat out.txt
}

compat graphviz needs=dot
case_graphviz() {
  echo 'digraph { a -> b; b -> c; a -> c; c -> d; d -> a }' | under dot -Tsvg
}

compat pandoc needs=pandoc limit=90
case_pandoc() {
  printf '# Title\n\n- one\n- *two*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n' | under pandoc -f markdown -t html
}

compat mplayer needs=mplayer
case_mplayer() {
  export HOME=$PWD
  under mplayer -really-quiet -noconfig all -benchmark -vo pnm -nosound -lavdopts threads=3 "$input/clip.y4m" >words 2>&1 </dev/null
  sha256sum ./*.ppm
}

compat vlc needs=cvlc limit=90 orders="free token record"
case_vlc() {
  local user=()
  export HOME=$PWD
  [ "$(id -u)" -ne 0 ] || { user=(setpriv --reuid=65534 --regid=65534 --clear-groups); chmod 777 .; chmod o+x ../.. ../../.. ..; cp "$input/clip.y4m" .; }
  under "${user[@]}" vlc -I dummy -q --no-audio --no-video-title-show --vout dummy --play-and-exit "file://$PWD/clip.y4m" >words 2>&1 </dev/null
  echo played
}

compat darktable needs=darktable-cli limit=150 orders="free token record"
case_darktable() {
  export HOME=$PWD
  under darktable-cli "$input/photo.ppm" out.ppm --core --library :memory: --configdir "$PWD/c" --cachedir "$PWD/k" -t 2 >words 2>&1
  head -c 15 out.ppm | head -n 2
}
