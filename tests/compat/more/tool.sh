# Programs that build, look through and convert: tools of developers, pictures, sounds, maps, parallel computing.

compat doxygen needs=doxygen limit=90
case_doxygen() {
  cp -r "$input/tree" src
  printf 'INPUT=src\nRECURSIVE=YES\nOUTPUT_DIRECTORY=out\nNUM_PROC_THREADS=2\nQUIET=YES\nWARNINGS=NO\nGENERATE_HTML=NO\nGENERATE_LATEX=NO\nGENERATE_XML=YES\nEXTRACT_ALL=YES\n' >Doxyfile
  under doxygen >words 2>&1
  # The numbers of what has no name are given in the order in which its threads come.
  grep -o '<name>[^<]*' out/xml/index.xml | sed 's/@[0-9]*/@/g' | sort | same_bytes
}

compat cppcheck needs=cppcheck limit=90
case_cppcheck() {
  for n in 1 2 3 4; do printf 'int f%s(void) { int a[%s]; a[%s] = 1; int *p = 0; return *p; }\n' "$n" "$n" "$n" >"c$n.c"; done
  under cppcheck -q -j 2 c1.c c2.c c3.c c4.c 2>out
  sort out | same_bytes
}

compat meson needs="meson ninja" limit=90
case_meson() {
  printf "project('a', 'c')\nexecutable('a', 'a.c')\n" >meson.build
  printf 'int puts(const char*); int main(void) { puts("built"); }\n' >a.c
  under meson setup out >words
  under ninja -C out >words
  out/a
}

compat ctags needs=ctags
case_ctags() {
  under ctags --version | sed -n 1p | cut -d, -f1
  under ctags -R -f tags --sort=yes "$input/tree"
  grep -v '^!' tags | cut -f1,3 | same_bytes
}

compat shellcheck needs=shellcheck
case_shellcheck() {
  printf '#!/bin/sh\nfor f in $(ls *.txt); do echo $f; done\n[ $x == 1 ] && cd y\n' >a.sh
  ends_with 1 shellcheck -f gcc a.sh
}

compat strace needs=strace orders="free token check"
case_strace() {
  under strace -f -e trace=none -o /dev/null sh -c 'echo one; echo two | cat'
}

compat openmpi needs="mpirun.openmpi mpicc.openmpi" limit=120 orders="free token check"
case_openmpi() {
  cat >m.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int c, char** v) {
  int rank, size; MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
  long sum = 0, mine = 0; for (int i = rank; i < 10000; i += size) mine += i % 7;
  for (int k = 0; k < 20; k++) MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (!rank) printf("%d %ld\n", size, sum);
  MPI_Finalize();
}
C
  mpicc.openmpi m.c -o m
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
  under mpirun.openmpi --oversubscribe -n 2 ./m 2>words
}

compat libjxl needs="cjxl djxl"
case_libjxl() {
  under cjxl -q 80 -e 4 --num_threads=2 "$input/photo.ppm" a.jxl 2>words
  under djxl --num_threads=2 a.jxl b.ppm 2>words
  same_bytes a.jxl b.ppm
}

compat avif needs="avifenc avifdec"
case_avif() {
  under avifenc -j 2 -s 9 "$input/clip.y4m" a.avif >words 2>&1
  under avifdec -j 2 a.avif b.y4m >words 2>&1
  same_bytes b.y4m
}

compat openjpeg needs="opj_compress opj_decompress"
case_openjpeg() {
  under opj_compress -i "$input/photo.ppm" -o a.j2k -threads 2 -r 20 >words
  under opj_decompress -i a.j2k -o b.ppm -threads 2 >words
  same_bytes a.j2k b.ppm
}

compat rav1e needs=rav1e limit=120
case_rav1e() {
  under rav1e -q -s 10 --threads 2 --tiles 2 -l 4 -o a.ivf "$input/clip.y4m" >words 2>&1
  same_bytes a.ivf
}

compat vips needs=vips
case_vips() {
  VIPS_CONCURRENCY=3 under vips gaussblur "$input/photo.ppm" a.v 3
  VIPS_CONCURRENCY=3 under vips resize a.v b.v 1.7
  vips rawsave b.v b.raw
  same_bytes b.raw
}

compat gdal needs="gdalwarp gdal_translate"
case_gdal() {
  under gdal_translate -q -of GTiff -a_srs EPSG:4326 -a_ullr 0 10 10 0 "$input/photo.ppm" a.tif
  under gdalwarp -q -multi -wo NUM_THREADS=2 -t_srs EPSG:3857 -r bilinear -co COMPRESS=DEFLATE -co NUM_THREADS=2 a.tif b.tif
  gdal_translate -q -of XYZ -b 1 b.tif b.xyz
  same_bytes b.xyz
}

compat osmium needs=osmium
case_osmium() {
  awk 'BEGIN { print "<osm version=\"0.6\">"; for (i = 20000; i > 0; i--) printf "<node id=\"%d\" version=\"1\" timestamp=\"2020-01-01T00:00:00Z\" lat=\"%.4f\" lon=\"%.4f\"/>\n", i, i % 90, i % 180; print "</osm>" }' >a.osm
  under osmium sort a.osm -o b.osm.pbf --generator=weir --no-progress
  under osmium cat b.osm.pbf -o c.opl --no-progress
  same_bytes c.opl
}

compat csound needs=csound
case_csound() {
  printf '<CsoundSynthesizer>\n<CsInstruments>\nsr=22050\nksmps=32\nnchnls=1\n0dbfs=1\ninstr 1\nout oscili(0.2,p4)\nendin\ninstr 2\nout oscili(0.1,p4*2)\nendin\n</CsInstruments>\n<CsScore>\ni1 0 1 440\ni1 0 1 550\ni2 0 1 330\ni2 0 1 220\n</CsScore>\n</CsoundSynthesizer>\n' >a.csd
  under csound -j2 -d -W -o a.wav a.csd 2>words
  tail -c +200 a.wav | same_bytes
}

compat espeak needs=espeak-ng
case_espeak() {
  under espeak-ng -w a.wav 'a low wall across a river'
  same_bytes a.wav
}

compat gmsh needs=gmsh limit=90
case_gmsh() {
  printf 'SetFactory("OpenCASCADE");\nBox(1) = {0,0,0,1,1,1};\nMesh.CharacteristicLengthMax = 0.2;\n' >a.geo
  under gmsh -2 -nt 2 -format msh2 -o a.msh a.geo >words
  grep -A 1 Elements a.msh | sed -n 2p
}

compat calculix needs=ccx limit=90
case_calculix() {
  awk 'BEGIN { print "*NODE"; n = 0; for (k = 0; k < 2; k++) for (j = 0; j < 2; j++) for (i = 0; i < 9; i++) printf "%d,%d,%d,%d\n", ++n, i, j, k
    print "*ELEMENT,TYPE=C3D8,ELSET=E"; for (i = 1; i < 9; i++) printf "%d,%d,%d,%d,%d,%d,%d,%d,%d\n", i, i, i + 1, i + 10, i + 9, i + 18, i + 19, i + 28, i + 27
    print "*MATERIAL,NAME=M\n*ELASTIC\n210000.,.3\n*SOLID SECTION,ELSET=E,MATERIAL=M\n*BOUNDARY\n1,1,3\n10,1,3\n19,1,3\n28,1,3\n*STEP\n*STATIC\n*CLOAD\n9,3,-10.\n*NSET,NSET=A\n9\n*NODE PRINT,NSET=A\nU\n*END STEP" }' >a.inp
  OMP_NUM_THREADS=2 CCX_NPROC_EQUATION_SOLVER=2 under ccx a >words
  grep -E '^ +9 ' a.dat
}

compat gromacs needs=gmx limit=120
case_gromacs() {
  awk 'BEGIN { print "argon"; print 64; n = 0; for (i = 0; i < 4; i++) for (j = 0; j < 4; j++) for (k = 0; k < 4; k++) printf "%5dAR      AR%5d%8.3f%8.3f%8.3f\n", ++n, n, i * .5 + .1, j * .5 + .1, k * .5 + .1; print "   2.00000   2.00000   2.00000" }' >a.gro
  printf '[ defaults ]\n1 1 no 1 1\n[ atomtypes ]\nAR 39.948 0 A 0.00622 9.7e-6\n[ moleculetype ]\nAR 1\n[ atoms ]\n1 AR 1 AR AR 1 0\n[ system ]\na\n[ molecules ]\nAR 64\n' >a.top
  printf 'integrator=md\nnsteps=50\ndt=0.002\ncutoff-scheme=verlet\nrvdw=0.8\nrcoulomb=0.8\nrlist=0.8\ngen-vel=yes\ngen-seed=7\ngen-temp=100\nnstxout=50\nverlet-buffer-tolerance=-1\nnstlist=10\n' >a.mdp
  export HOME=$PWD GMX_MAXBACKUP=-1
  under gmx -quiet grompp -f a.mdp -c a.gro -p a.top -o a.tpr -maxwarn 5 >words 2>&1
  under gmx -quiet mdrun -s a.tpr -nt 1 -reprod -nb cpu -deffnm b >words 2>&1
  same_bytes b.gro
}

compat lammps needs=lmp limit=90 orders="free token check"
case_lammps() {
  printf 'units lj\natom_style atomic\nlattice fcc 0.8442\nregion box block 0 4 0 4 0 4\ncreate_box 1 box\ncreate_atoms 1 box\nmass 1 1.0\nvelocity all create 1.44 87287 loop geom\npair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0 2.5\nfix 1 all nve\nrun 40\n' >in.lj
  OMP_NUM_THREADS=2 under lmp -in in.lj -log none >words 2>words2
  grep -A 2 '^ *Step' words
}

compat lualatex needs=lualatex limit=120
case_lualatex() {
  printf '\\documentclass{article}\\begin{document}Weir $a^2+b^2=c^2$ \\directlua{tex.print(6*7)}\\end{document}\n' >a.tex
  export HOME=$PWD SOURCE_DATE_EPOCH=1 FORCE_SOURCE_DATE=1 TEXMFVAR=$PWD/var
  under lualatex -interaction=batchmode a.tex >words
  tail -n 2 a.log | sed 's/on a.pdf//' | grep -o 'PDF.*' || ls a.pdf
}

compat hugo needs=hugo limit=90
case_hugo() {
  mkdir -p content layouts/_default
  echo 'title = "t"' >config.toml
  for n in 1 2 3 4 5 6; do printf -- '---\ntitle: p%s\ndate: 2020-01-0%s\n---\nhello *%s*\n' "$n" "$n" "$n" >"content/p$n.md"; done
  echo '{{ .Title }}: {{ .Content }}' >layouts/_default/single.html
  echo '{{ range .Pages }}{{ .Title }} {{ end }}' >layouts/_default/list.html
  cp layouts/_default/list.html layouts/index.html
  under hugo --quiet --noTimes --cacheDir "$PWD/cache" 2>words
  (cd public && cat p?/index.html && same_bytes p1/index.html)
}

compat bat needs=batcat
case_bat() {
  under batcat --no-config --color=always --style=numbers --paging=never -l c "$input/tree/part00/"* | same_bytes
}

compat lilypond needs=lilypond limit=120
case_lilypond() {
  echo '\version "2.22.0" \header { tagline = ##f } { c4 d e f g1 }' >a.ly
  export HOME=$PWD
  under lilypond --silent -dno-point-and-click --svg -o out a.ly
  same_bytes out.svg
}

compat mesa needs="xvfb-run glxinfo" limit=90
case_mesa() {
  under xvfb-run -a sh -c 'LIBGL_ALWAYS_SOFTWARE=1 glxinfo -B' 2>words | grep 'OpenGL renderer'
}

compat dbus needs="dbus-run-session dbus-send"
case_dbus() {
  under dbus-run-session -- dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames 2>words | tr -s ' ' '\n' | grep freedesktop
}

compat apache_bench needs="ab python3" limit=90
case_apache_bench() {
  local port web
  port=$(free_port)
  (cd "$input" && exec python3 -m http.server -b 127.0.0.1 "$port") >words 2>&1 &
  web=$!
  ask listening "$port"
  under ab -q -n 12 -c 3 "http://127.0.0.1:$port/text" >out 2>words2
  kill "$web"
  grep -E '^(Complete|Failed) requests' out
}

compat rocksdb needs="ldb" limit=90
case_rocksdb() {
  for n in 1 2 3; do under ldb --db=d --create_if_missing put "k$n" "v$n"; done
  under ldb --db=d compact >words
  under ldb --db=d scan
}
