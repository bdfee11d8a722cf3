#include "parallel/mpi/mpi_api.h"

#include <dlfcn.h>

#include <string>
#include <utility>

namespace evener::parallel::mpi {
namespace {

constexpr const char* kLibrary = "libmpi.so.40";  // Open MPI 3 to 5

Error no_library(std::string why) {
  return {.code = Code::unavailable,
          .doing = "load Open MPI",
          .where = kLibrary,
          .why = std::move(why),
          .remedy = "install openmpi-bin, whose mpirun started this process, on every host"};
}

class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <class F>
  void find(const char* name, F* to) {
    *to = reinterpret_cast<F>(dlsym(library_, name));
    if (*to == nullptr && missing_.empty()) missing_ = name;
  }

  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

Result<MpiApi> load() {
  // Its plugins look for its symbols among all of the process'.
  void* const library = dlopen(kLibrary, RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return no_library(why != nullptr ? why : "it cannot be loaded");
  }
  MpiApi api;
  Symbols symbols(library);
  symbols.find("MPI_Init_thread", &api.init_thread);
  symbols.find("MPI_Finalize", &api.finalize);
  symbols.find("MPI_Comm_rank", &api.comm_rank);
  symbols.find("MPI_Comm_size", &api.comm_size);
  symbols.find("MPI_Comm_set_errhandler", &api.comm_set_errhandler);
  symbols.find("MPI_Get_processor_name", &api.get_processor_name);
  symbols.find("MPI_Error_string", &api.error_string);
  symbols.find("MPI_Isend", &api.isend);
  symbols.find("MPI_Irecv", &api.irecv);
  symbols.find("MPI_Test", &api.test);
  symbols.find("MPI_Cancel", &api.cancel);
  symbols.find("MPI_Iprobe", &api.iprobe);
  symbols.find("MPI_Get_count", &api.get_count);
  symbols.find("ompi_mpi_comm_world", &api.world);  // what mpi.h's MPI_COMM_WORLD is made of
  symbols.find("ompi_mpi_byte", &api.bytes);
  symbols.find("ompi_mpi_errors_return", &api.errors_return);
  if (!symbols.missing().empty()) return no_library("it has no " + symbols.missing());
  return api;
}

}  // namespace

Result<const MpiApi*> load_mpi() {
  static const Result<MpiApi> loaded = load();
  if (!loaded) return loaded.error();
  return &*loaded;
}

}  // namespace evener::parallel::mpi
