// What all kernels begin with. Memory is reached by address; rows lie `stride` floats apart.
//
// Every result is computed by one sequence of roundings: sums are `precise`, so that no compiler
// fuses a product and a sum in one kernel and not in another. No kernel depends on the size of a
// subgroup.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Ints { int v[]; };

// Rows are spread over y and z, which are limited each.
uint row_of_group() { return gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y; }

Floats floats_at(Floats base, uint64_t index) { return Floats(uint64_t(base) + 4 * index); }
Words words_at(Words base, uint64_t index) { return Words(uint64_t(base) + 4 * index); }
