// Slices of the batch; those of SlicePlace in batch_data.h.
struct Slice {
  uint first_row, num_rows, slot;
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Slices { Slice v[]; };
