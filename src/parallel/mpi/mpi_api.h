#pragma once

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include "base/error.h"

namespace evener::parallel::mpi {

// The functions of Open MPI that are used, in its library as it was loaded. Linked to the program
// it would add 40 ms to the start of every command, and everybody would have to install it.
struct MpiApi {
  decltype(&MPI_Init_thread) init_thread = nullptr;
  decltype(&MPI_Finalize) finalize = nullptr;
  decltype(&MPI_Comm_rank) comm_rank = nullptr;
  decltype(&MPI_Comm_size) comm_size = nullptr;
  decltype(&MPI_Comm_set_errhandler) comm_set_errhandler = nullptr;
  decltype(&MPI_Get_processor_name) get_processor_name = nullptr;
  decltype(&MPI_Error_string) error_string = nullptr;
  decltype(&MPI_Isend) isend = nullptr;
  decltype(&MPI_Irecv) irecv = nullptr;
  decltype(&MPI_Test) test = nullptr;
  decltype(&MPI_Cancel) cancel = nullptr;
  decltype(&MPI_Iprobe) iprobe = nullptr;
  decltype(&MPI_Get_count) get_count = nullptr;
  MPI_Comm world = nullptr;
  MPI_Datatype bytes = nullptr;
  MPI_Errhandler errors_return = nullptr;
};

// Loads the library; the second call gives what the first one did. Error: unavailable (it is not
// installed, or it is another MPI than this program was built for).
Result<const MpiApi*> load_mpi();

}  // namespace evener::parallel::mpi
