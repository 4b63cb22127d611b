cat > op.cc <<'END'
int your_function() { return 1; }
END
# [wrong]
LIBRARIES=-lyour_library
# [cured]
LIBRARIES=
# [both]
echo "op.so $LFLAGS"
$CXX -shared -fPIC op.cc -o op.so $LIBRARIES
