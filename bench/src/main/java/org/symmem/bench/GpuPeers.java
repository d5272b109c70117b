package org.symmem.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.Optional;
import java.util.stream.IntStream;

/** What stands beside device memory: the driver's own calls, NVSHMEM and PyTorch, from Python. {@code PYTHON} says which Python. */
final class GpuPeers {
    private static final Path DRIVER = Path.of("/dev/nvidiactl");

    private final PeerPrograms programs;
    private final int ranks;
    private final String python = Optional.ofNullable(System.getenv("PYTHON")).filter(name -> !name.isBlank()).orElse("python3");
    private int rounds;

    GpuPeers(PeerPrograms programs, int ranks) {
        this.programs = programs;
        this.ranks = ranks;
    }

    List<Peers.Peer> all() {
        return List.of(
                new Peers.Peer("raw driver calls, copies and signals", Set.of("allocate", "rendezvous", "local", "put", "signal"),
                        this::rawCalls),
                new Peers.Peer("raw driver calls, barrier", Set.of("barrier"), this::rawBarrier),
                new Peers.Peer("raw driver calls, collectives", Set.of("broadcast", "allgather"), this::rawCollectives),
                new Peers.Peer("NVSHMEM", Set.of("put", "signal", "barrier"), this::nvshmem),
                new Peers.Peer("PyTorch symmetric memory", Set.of("allocate", "rendezvous", "put", "barrier"), this::torch));
    }

    private List<Peers.Figure> rawCalls() throws IOException, InterruptedException, Peers.NotRunException {
        require("cuda.bindings.driver", "cuda-python");
        if (ranks != 2) {
            throw new Peers.NotRunException("its program has two ranks");
        }
        return GpuFigures.rawCalls(said(programs.given("vmm_limit.py")));
    }

    private List<Peers.Figure> rawBarrier() throws IOException, InterruptedException, Peers.NotRunException {
        require("cuda.bindings.driver", "cuda-python");
        return GpuFigures.rawBarrier(said(programs.given("vmm_barrier.py")));
    }

    private List<Peers.Figure> rawCollectives() throws IOException, InterruptedException, Peers.NotRunException {
        require("cuda.bindings.driver", "cuda-python");
        return GpuFigures.rawCollectives(said(programs.own("raw_collectives.py")));
    }

    private List<Peers.Figure> nvshmem() throws IOException, InterruptedException, Peers.NotRunException {
        require("cuda.bindings.runtime", "cuda-python");
        require("nvidia.nvshmem", "nvidia-nvshmem-cu13");
        String program = programs.given("nvshmem_bench.py").toString();
        // A file of its own each time: PEs would take an earlier job's id.
        String id = programs.place("nvshmem-id-" + rounds++).toString();
        return GpuFigures.nvshmem(programs.outputOfFirst(IntStream.range(0, ranks)
                .mapToObj(rank -> List.of(python, program, Integer.toString(rank), Integer.toString(ranks), id))
                .toList()));
    }

    private List<Peers.Figure> torch() throws IOException, InterruptedException, Peers.NotRunException {
        require("torch.distributed._symmetric_memory", "torch");
        String devices = programs.output(List.of(python, "-c", "import torch; print(torch.cuda.device_count())")).strip();
        if (Integer.parseInt(devices) < ranks) {
            throw new Peers.NotRunException("it needs a GPU for each of the " + ranks + " ranks, and there are " + devices);
        }
        return GpuFigures.torch(programs.output(List.of(python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                Integer.toString(ranks), programs.own("torch_symmetric.py").toString())));
    }

    private String said(Path program) throws IOException, InterruptedException, Peers.NotRunException {
        return programs.output(List.of(python, program.toString(), Integer.toString(ranks)));
    }

    private void require(String module, String distribution) throws IOException, InterruptedException, Peers.NotRunException {
        if (!Files.exists(DRIVER)) {
            throw new Peers.NotRunException("this machine has no NVIDIA GPU (there is no " + DRIVER + ")");
        }
        try {
            programs.output(List.of(python, "-c", "import " + module));
        } catch (Peers.NotRunException e) {
            throw new Peers.NotRunException(
                    python + " has no " + module + " (" + e.getMessage() + "); install " + distribution
                            + ", or say in PYTHON which Python has it");
        }
    }
}
