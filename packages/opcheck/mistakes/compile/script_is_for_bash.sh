cat > build.sh <<'END'
FLAGS=( -O2 -fPIC )
echo ${FLAGS[@]}
END
# [wrong]
sh build.sh
# [cured]
bash build.sh
