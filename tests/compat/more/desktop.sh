# Desktop programs without a desktop.

compat libreoffice needs=soffice limit=150 orders="free token check"
case_libreoffice() {
  printf 'One line of text.\nAnother.\n' >page.txt
  HOME=$PWD under soffice "-env:UserInstallation=file://$PWD/profile" --headless --convert-to html --outdir out page.txt >words 2>&1
  grep -o 'One line of text' out/page.html
}

page() { printf '<!doctype html><title>t</title><body><p id=p>before</p><script>document.getElementById("p").textContent = "sum " + [1,2,3].reduce((a, b) => a + b)</script></body>\n' >page.html; }

compat chromium needs=chromium limit=150 orders="free token"
case_chromium() {
  page
  HOME=$PWD under chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/profile" --dump-dom "file://$PWD/page.html" 2>words
}

compat firefox needs=firefox-esr limit=150 orders="free"
case_firefox() {
  page
  mkdir profile
  HOME=$PWD MOZ_DISABLE_CONTENT_SANDBOX=1 under firefox-esr --headless --no-remote --profile "$PWD/profile" --window-size 200,100 --screenshot "$PWD/shot.png" "file://$PWD/page.html" >words 2>&1 ||
    { local status=$?; grep 'which Weir needs' words >&2 || true; return $status; }
  head -c 8 shot.png | od -An -c
}
