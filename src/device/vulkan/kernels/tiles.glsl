// Neighbours in a list of rows that go through the same matrix; those of RowTile in vulkan_routing.h.
struct Tile {
  uint expert, first, count;
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Tiles { Tile v[]; };
