// What the ops of this chapter share: the key of a letter.

#ifndef OP_BY_OP_EXAMPLES_SEND_RECV_SEND_RECV_H_
#define OP_BY_OP_EXAMPLES_SEND_RECV_SEND_RECV_H_

#include <string>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/rendezvous.h"

namespace op_by_op {

// The key under which Post leaves a tensor and Collect finds it. It does not
// depend on the device that asks.
absl::Status KeyOf(tensorflow::OpKernelContext* context,
                   const std::string& label,
                   tensorflow::Rendezvous::ParsedKey* key);

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_SEND_RECV_SEND_RECV_H_
