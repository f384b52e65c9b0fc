# Archivers: a tree goes in and comes out.

compat 7z needs=7z
case_7z() {
  under 7z a -bd -bso0 -mx=1 "-mmt$threads" -m0=lzma2:c128k:d64k out.7z "$input/tree"
  under 7z x -bd -bso0 -oout out.7z
  is_tree out/tree
}

compat 7z_bzip2 needs=7z
case_7z_bzip2() {
  under 7z a -bd -bso0 -tbzip2 -mx=1 "-mmt$threads" out.bz2 "$input/mixed"
  bzip2 -dc out.bz2 | cmp - "$input/mixed"
}

compat zpaq needs=zpaq
case_zpaq() {
  cp -r "$input/tree" tree
  under zpaq add out.zpaq tree -m1 "-t$threads" -fragment 2 >words 2>&1
  under zpaq extract out.zpaq tree -to out "-t$threads" >words 2>&1
  is_tree out
}

compat squashfs needs="mksquashfs unsquashfs" limit=90
case_squashfs() {
  under mksquashfs "$input/tree" out.squashfs -quiet -no-progress -b 16K -processors "$threads" \
    -all-root -all-time 1700000000 -mkfs-time 1700000000 -mem 64M >words
  same_bytes out.squashfs
  under unsquashfs -quiet -no-progress -processors "$threads" -dest out out.squashfs >words
  is_tree out
}

compat tar_zstd needs="tar zstd"
case_tar_zstd() {
  under tar -C "$input" --sort=name --owner=0 --group=0 --mtime=@1700000000 \
    -I "zstd -q -T$threads" -cf "$PWD/out.tar.zst" tree
  same_bytes out.tar.zst
  under tar -I "zstd -q" -xf out.tar.zst
  is_tree tree
}

compat tar_pigz needs="tar pigz"
case_tar_pigz() {
  tar -C "$input" --sort=name -c tree | under pigz -p "$threads" | under tar -xz
  is_tree tree
}

compat dpkg_deb needs=dpkg-deb
case_dpkg_deb() {
  mkdir -p package/DEBIAN package/usr/share
  cp -r "$input/tree" package/usr/share
  printf 'Package: sample\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <n@example.org>\nDescription: sample\n' \
    >package/DEBIAN/control
  SOURCE_DATE_EPOCH=1700000000 under dpkg-deb -Zxz -z1 "--threads-max=$threads" --root-owner-group -b package out.deb
  find package -exec touch -d @1700000000 {} +
  under dpkg-deb -x out.deb out
  is_tree out/usr/share/tree
}

compat mbuffer needs=mbuffer
case_mbuffer() {
  under mbuffer -q -s 4k -m 64k -i "$input/mixed" -o out
  cmp out "$input/mixed"
  under mbuffer -q -s 1k -m 32k <"$input/noise" | cmp - "$input/noise"
}

compat par2 needs=par2
case_par2() {
  cp "$input/noise" data
  under par2 create -q -q "-t$threads" -s4096 -r20 -n1 data.par2 data
  same_bytes data.par2
  dd if=/dev/zero of=data bs=1000 seek=20 count=6 conv=notrunc 2>dd_words
  under par2 repair -q -q "-t$threads" data.par2
  cmp data "$input/noise"
}
