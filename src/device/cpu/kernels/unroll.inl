// Loops whose index is a constant in every round, so that arrays indexed by it live in registers.

#define EVENER_INLINE __attribute__((always_inline))

template <size_t n>
struct Constant {
  constexpr operator size_t() const { return n; }  // NOLINT(google-explicit-constructor)
};

template <size_t... n>
struct Sequence {};

// MakeSequence<4>::Type is Sequence<0, 1, 2, 3>. The library's own would be a C++ header.
template <size_t count, size_t... n>
struct MakeSequence : MakeSequence<count - 1, count - 1, n...> {};

template <size_t... n>
struct MakeSequence<0, n...> {
  using Type = Sequence<n...>;
};

template <class Body, size_t... n>
EVENER_INLINE inline void unroll_over(Sequence<n...>, Body body) {
  (body(Constant<n>()), ...);
}

// body(Constant<0>()), body(Constant<1>()), ... Bodies are lambdas marked EVENER_INLINE.
template <size_t count, class Body>
EVENER_INLINE inline void unroll(Body body) {
  unroll_over(typename MakeSequence<count>::Type(), body);
}
