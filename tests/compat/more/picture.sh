# Programs that make pictures and films.

compat povray needs=povray
case_povray() {
  cat >scene.pov <<'POV'
#version 3.7;
global_settings { assumed_gamma 1.0 }
camera { location <0,2,-5> look_at <0,1,0> }
light_source { <4,6,-6> rgb 1 }
plane { y,0 pigment { checker rgb 1, rgb 0.2 } }
sphere { <0,1,0>,1 pigment { rgb <1,0.3,0.2> } finish { reflection 0.3 phong 1 } }
POV
  under povray +Iscene.pov +Oscene.ppm +FP +W64 +H48 "+WT$threads" -D -GA >words 2>&1
  # Not the comment with the date.
  grep -av "^#" scene.ppm | same_bytes
}

compat blender needs=blender limit=300 orders="free token check"
case_blender() {
  export HOME=$PWD
  under blender --background --factory-startup -noaudio --threads "$threads" --python-expr '
import bpy
bpy.ops.mesh.primitive_monkey_add()
m = bpy.context.object.modifiers.new("s", "SUBSURF"); m.levels = 2
d = bpy.context.evaluated_depsgraph_get()
mesh = bpy.context.object.evaluated_get(d).to_mesh()
print("VERTICES", len(mesh.vertices), round(sum(v.co.length for v in mesh.vertices), 3))' >words 2>&1
  grep VERTICES words
}

compat gimp needs=gimp limit=120 orders="free token"
case_gimp() {
  export HOME=$PWD XDG_RUNTIME_DIR=$PWD
  # Natively: at its first start it asks each of its hundred plug-ins, a fork of a large program each, what it can do.
  gimp -n -i -d -f -s -b '(gimp-quit 0)' >words 2>&1
  under gimp -n -i -d -f -s -b '(let* ((i (car (gimp-image-new 32 24 RGB))) (l (car (gimp-layer-new i 32 24 RGB-IMAGE "a" 100 LAYER-MODE-NORMAL)))) (gimp-image-insert-layer i l 0 0) (gimp-context-set-foreground (list 200 30 60)) (gimp-edit-fill l FILL-FOREGROUND) (file-ppm-save RUN-NONINTERACTIVE i l "out.ppm" "out.ppm" 1))' -b '(gimp-quit 0)' >words 2>&1
  same_bytes out.ppm
}

compat gstreamer needs=gst-launch-1.0 orders="free token check"
case_gstreamer() {
  export HOME=$PWD GST_REGISTRY=$PWD/registry.bin
  under gst-launch-1.0 -q videotestsrc num-buffers=20 pattern=ball ! video/x-raw,format=I420,width=64,height=48 ! queue ! \
    videoconvert ! video/x-raw,format=RGB ! queue ! filesink location=film.rgb >words 2>&1
  same_bytes film.rgb
}

compat imagemagick needs=convert-im6.q16
case_imagemagick() {
  OMP_NUM_THREADS=$threads under convert-im6.q16 "$input/photo.ppm" -resize 120x90 -blur 0x2 -colorspace Gray -depth 8 small.ppm
  same_bytes small.ppm
}

compat ffmpeg_filters needs=ffmpeg
case_ffmpeg_filters() {
  under ffmpeg -loglevel error -threads "$threads" -filter_complex_threads "$threads" -i "$input/clip.y4m" \
    -filter_complex 'scale=80:60,hqdn3d,split[a][b];[b]hflip[c];[a][c]hstack' -f framemd5 -
}
