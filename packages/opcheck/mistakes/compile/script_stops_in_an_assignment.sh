# [wrong]
cat > build.sh <<'END'
FLAGS =( -O2 -fPIC )
echo ${FLAGS[@]}
END
# [cured]
cat > build.sh <<'END'
FLAGS=( -O2 -fPIC )
echo ${FLAGS[@]}
END
# [both]
bash build.sh
