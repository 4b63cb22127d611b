# [wrong]
cat > build.sh <<'END'
echo c++ -O2 \
#  -g \
  -fPIC
END
# [cured]
cat > build.sh <<'END'
echo c++ -O2 \
  -fPIC
END
# [both]
bash build.sh
