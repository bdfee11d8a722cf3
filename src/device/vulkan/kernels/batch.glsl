// What batch_data.h brings along.

// Rows of the batch: where each stands. Those of RowPlace in batch_data.h.
struct RowPlace {
  uint first_row;   // of its slice
  uint position;
  uint pages;       // where its sequence's page numbers begin in the list of pages
  uint slot;
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer RowPlaces { RowPlace v[]; };

// Slices of the batch; those of SlicePlace in batch_data.h.
struct Slice {
  uint first_row, num_rows, slot;
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Slices { Slice v[]; };
