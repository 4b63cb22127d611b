"""Where a named section of a source ends."""

from textwrap import dedent

import pytest
from sections import sections, without_names


def shown(tmp_path, source):
    """The sections of a source, by their names."""
    path = tmp_path / "x.cc"
    path.write_text(dedent(source).lstrip())
    lines = path.read_text().splitlines()
    return {
        name: "\n".join(lines[first - 1 : last])
        for name, (first, last) in sections(path).items()
    }


def test_it_ends_at_the_next_comment_as_far_left(tmp_path):
    """The comments above its code, and those within, belong to it."""
    found = shown(
        tmp_path,
        """
        // [sum] Adds,
        // and nothing else.

        template <typename T>
        T Sum(T a, T b) {
          // No overflow.
          return a + b;
        }

        int twice;  // still of the section
        // Not shown.
        int hidden;
        // [one] One line.
        int one;
        """,
    )
    assert found["sum"].startswith("// [sum] Adds,\n// and nothing else.\n\ntemplate")
    assert found["sum"].endswith("int twice;  // still of the section")
    assert found["one"] == "// [one] One line.\nint one;"


def test_macros_and_chains_of_calls(tmp_path):
    found = shown(
        tmp_path,
        """
        // [interface] An op.
        REGISTER_OP("X")
            .Attr("T: type")
            // What help() says.
            .Doc("x")
            // [shape] A part of it.
            .SetShapeFn([](Context* context) {
              return OkStatus();
            });

        // [register] A line for each type.
        #define REGISTER(T) \\
          REGISTER_KERNEL_BUILDER(Name("X").TypeConstraint<T>("T"), \\
                                  XOp<T>)
        REGISTER(float);
        #undef REGISTER

        // For Python.
        """,
    )
    assert found["interface"].splitlines()[-1] == '    .Doc("x")'
    assert found["shape"].splitlines()[-1] == "    });"
    assert found["register"].splitlines()[-1] == "#undef REGISTER"


KERNEL = """
    class XOp : public OpKernel {
     public:
      // [compute] Of one call.
      void Compute(Context* context) override {
        Check(context);
        // [loop] One after the other.
        for (int i = 0; i < 3; ++i) {
          run(i);
        }
      }

     private:
      int member_;
    };
    REGISTER(XOp);
"""


def test_it_ends_with_the_block_in_which_it_stands(tmp_path):
    found = shown(tmp_path, KERNEL)
    assert found["compute"].endswith("    Check(context);")
    assert found["loop"].endswith("    }\n  }"), (
        "the end of Compute, which [compute] began"
    )
    alone = shown(tmp_path, KERNEL.replace("// [compute] Of", "// Of"))
    assert alone["loop"].endswith("      run(i);\n    }")


def test_sections_in_a_row_hold_all_that_the_first_began(tmp_path):
    found = shown(tmp_path, "// [class] A kernel.\n" + dedent(KERNEL).lstrip())
    assert found["class"].endswith(" public:")
    assert found["loop"].endswith("int member_;\n};\nREGISTER(XOp);")


def test_it_ends_with_its_namespace_and_before_the_next(tmp_path):
    found = shown(
        tmp_path,
        """
        namespace a {
        // [a] Of a.
        int a;

        namespace {

        // [b] Of none.
        int b;

        }  // namespace
        }  // namespace a

        int after;
        """,
    )
    assert found == {"a": "// [a] Of a.\nint a;", "b": "// [b] Of none.\nint b;"}


def test_conditions_of_the_section_stay_in_it_and_those_around_it_do_not(tmp_path):
    found = shown(
        tmp_path,
        """
        #ifndef X_H_
        struct S {
          // [fast] With AVX2.
        #if defined(__AVX2__)
          int fast;
        #else
          int slow;
        #endif
        };
        // [end] The last one.
        int end;
        #endif  // X_H_
        int after;
        """,
    )
    assert found["fast"].endswith("  int slow;\n#endif")
    assert found["end"].endswith("int end;")


def test_a_raw_string_holds_no_sections_and_ends_none(tmp_path):
    found = shown(
        tmp_path,
        """
        class C {
          // [doc] Words.
          const char* doc = R"doc(
        // [not] A section.
        // A comment.
        }  // namespace
        )doc";
          int more;
        };
        """,
    )
    assert list(found) == ["doc"]
    assert found["doc"].endswith("int more;")


def test_a_section_without_a_name_ends_the_one_before(tmp_path):
    found = shown(
        tmp_path,
        """
        // [head] The first line.
        int Head() {
          int shown;
          // [] And so on.
          int hidden;
        }
        """,
    )
    assert found["head"].endswith("int shown;")


def test_two_sections_of_one_name_are_an_error(tmp_path):
    with pytest.raises(ValueError, match="two sections are named a"):
        shown(tmp_path, "// [a] One.\nint a;\n// [a] Two.\nint b;\n")


def test_a_page_does_not_show_the_names():
    code = "// [a] Adds.\nint a;\n  // []\n// b[0] is kept.\n"
    assert without_names(code) == "// Adds.\nint a;\n// b[0] is kept.\n"
    assert without_names("-// [a] Old.\n+  // [a] New.\n") == "-// Old.\n+  // New.\n"
