// A plugin of g++ with a pragma: what the templates need that the lines above
// it use is instantiated there, not at the end of the file.
//
// A precompiled header holds what is instantiated. What waits for the end of
// the file is not in it, and each file that reads the header would do it again.
//
// These declarations are those of g++, whose own headers are in a package that
// few have.

struct cpp_reader;
struct plugin_name_args {
  char* base_name;
};
constexpr int kPragmas = 15;  // PLUGIN_PRAGMAS

extern "C" int register_callback(const char* plugin, int event,
                                 void (*callback)(void* data, void* user),
                                 void* user);
void c_register_pragma(const char* space, const char* name,
                       void (*handler)(cpp_reader* reader));
void instantiate_pending_templates(int retries);

extern "C" {
__attribute__((visibility("default"))) int plugin_is_GPL_compatible;

__attribute__((visibility("default"))) int plugin_init(plugin_name_args* plugin,
                                                       void* /*version*/) {
  register_callback(
      plugin->base_name, kPragmas,
      [](void*, void*) {
        c_register_pragma("op_by_op", "instantiate", [](cpp_reader*) {
          instantiate_pending_templates(0);
        });
      },
      nullptr);
  return 0;
}
}
