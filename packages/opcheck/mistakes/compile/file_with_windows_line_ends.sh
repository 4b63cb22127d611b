printf '#!/bin/bash\r\necho built\r\n' > build_tensorflow_op.sh
chmod +x build_tensorflow_op.sh
# [wrong]
./build_tensorflow_op.sh
# [cured]
sed -i 's/\r$//' build_tensorflow_op.sh
./build_tensorflow_op.sh
