# Encoders and decoders: streams equal the native ones.

compat x264 needs=x264 limit=90
case_x264() {
  under x264 --quiet --threads "$threads" --preset fast --input-res "$(cat "$input/clip.size")" \
    -o out.264 "$input/clip.yuv" 2>words
  same_bytes out.264
}

compat x264_slices needs=x264 limit=90
case_x264_slices() {
  under x264 --quiet --threads "$threads" --sliced-threads --preset ultrafast -o out.264 "$input/clip.y4m" 2>words
  same_bytes out.264
}

compat x265 needs=x265 limit=120
case_x265() {
  under x265 --log-level error --pools "$threads" --frame-threads 2 --preset ultrafast --ctu 16 \
    --no-info -o out.265 "$input/clip.y4m" 2>words
  same_bytes out.265
}

film() { under ffmpeg -nostdin -v error -y -f lavfi -i "testsrc=size=96x64:rate=10:duration=1" -bitexact "$@"; }

compat ffmpeg_x264 needs=ffmpeg limit=120
case_ffmpeg_x264() {
  film -c:v libx264 -preset veryfast -threads "$threads" out.mkv
  same_bytes out.mkv
}

compat ffmpeg_vp9 needs=ffmpeg limit=120
case_ffmpeg_vp9() {
  film -c:v libvpx-vp9 -row-mt 1 -threads "$threads" -deadline realtime -cpu-used 8 out.webm
  same_bytes out.webm
}

# Frame threads of the decoder, slice threads of the filters.
compat ffmpeg_decode needs="ffmpeg x264" limit=120
case_ffmpeg_decode() {
  x264 --quiet --preset fast -o in.264 "$input/clip.y4m" 2>words
  under ffmpeg -nostdin -v error -threads "$threads" -i in.264 -filter_threads "$threads" \
    -vf "scale=64:48,gblur,hflip" -f framemd5 -bitexact -
}

# A negative speed is a fixed one: a positive one follows the clock.
compat vpxenc needs="vpxenc vpxdec" limit=120
case_vpxenc() {
  under vpxenc -q --codec=vp8 --rt --cpu-used=-8 "--threads=$threads" --token-parts=2 --ivf -o out.ivf "$input/clip.y4m"
  same_bytes out.ivf
  under vpxdec --md5 --i420 "--threads=$threads" out.ivf
}

compat aomenc needs=aomenc limit=120
case_aomenc() {
  under aomenc -q --rt --cpu-used=9 --row-mt=1 --tile-columns=1 "--threads=$threads" --limit=6 --ivf \
    -o out.ivf "$input/clip.y4m" 2>words
  same_bytes out.ivf
}

compat dav1d needs="aomenc dav1d" limit=90
case_dav1d() {
  aomenc -q --rt --cpu-used=9 --limit=8 --ivf -o in.ivf "$input/clip.y4m" 2>words
  under dav1d -q --threads "$threads" -i in.ivf --muxer md5 -o - 2>words
}

compat webp needs="cwebp dwebp" limit=60
case_webp() {
  under cwebp -quiet -mt -q 70 -m 4 "$input/photo.ppm" -o out.webp
  same_bytes out.webp
  under dwebp -quiet -mt out.webp -ppm -o out.ppm
  same_bytes out.ppm
}

compat graphicsmagick needs=gm limit=90
case_graphicsmagick() {
  OMP_NUM_THREADS=$threads under gm convert "$input/photo.ppm" -sharpen 0x1 -scale 200x150 -swirl 40 out.ppm
  same_bytes out.ppm
}
