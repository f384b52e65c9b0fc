# .NET Core: programs of C#, compiled by Mono's compiler for the runtime that a package of PyPI has.

dotnet_home=$python_packages/dotnetcore2/bin

# Compiles NAME.cs.
sharp() {
  local system=$dotnet_home/shared/Microsoft.NETCore.App
  system=$system/$(ls "$system")
  local references
  mapfile -t references < <(cd "$system" && printf -- '-r:%s\n' mscorlib.dll System*.dll | grep -v Windows)
  mcs -nostdlib -nowarn:0219,1702 "-lib:$system" "${references[@]}" "-out:$1.dll" "$1.cs" >words
  printf '%s' '{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"},' \
    '"configProperties": {"System.Globalization.Invariant": true}}}' >"$1.runtimeconfig.json"
}

# Precompiled code that many threads are in at once: locks, Interlocked, a barrier, a dictionary.
compat dotnet_locks needs=mcs modules=dotnetcore2 limit=120
case_dotnet_locks() {
  cat >Locks.cs <<'CS'
using System;
using System.Collections.Concurrent;
using System.Threading;
class Locks {
  static long added, swapped;
  static int plain, written;
  static void Main() {
    var map = new ConcurrentDictionary<int, int>();
    var few = new SemaphoreSlim(2);
    var start = new ManualResetEventSlim(false);
    var all = new Barrier(8);
    var shared = new ReaderWriterLockSlim();
    var monitor = new object();
    var team = new Thread[8];
    for (int t = 0; t < 8; t++) {
      int n = t;
      team[t] = new Thread(() => {
        start.Wait();
        for (int i = 0; i < 100; i++) {
          Interlocked.Add(ref added, i * n);
          long old;
          do { old = Volatile.Read(ref swapped); } while (Interlocked.CompareExchange(ref swapped, old + 1, old) != old);
          lock (monitor) { plain++; }
          map.AddOrUpdate(i % 16, 1, (key, value) => value + 1);
          if (i % 20 == 0) {
            few.Wait();
            shared.EnterWriteLock();
            written++;
            shared.ExitWriteLock();
            few.Release();
          }
          if (i % 50 == 0) all.SignalAndWait();
        }
      });
      team[t].Start();
    }
    start.Set();
    foreach (var one in team) one.Join();
    int sum = 0;
    foreach (var value in map.Values) sum += value;
    Console.WriteLine(added + " " + swapped + " " + plain + " " + written + " " + sum);
  }
}
CS
  sharp Locks
  under "$dotnet_home/dotnet" exec Locks.dll
}

# The pool of threads, await, a garbage collection while others allocate, exceptions by signals.
compat dotnet_tasks needs=mcs modules=dotnetcore2 limit=120
case_dotnet_tasks() {
  cat >Tasks.cs <<'CS'
using System;
using System.Collections.Concurrent;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
class Tasks {
  static string nothing = null;
  static async Task<long> Work(int n) {
    long sum = 0;
    for (int i = 0; i < 20; i++) { await Task.Yield(); sum += i * n; }
    return sum;
  }
  static long Allocate() {
    long sum = 0;
    for (int i = 0; i < 20000; i++) sum += new byte[i % 300].Length;
    return sum;
  }
  static void Main() {
    long total = 0, caught = 0;
    Parallel.For(0, 1000, i => Interlocked.Add(ref total, i));
    long awaited = Task.WhenAll(Enumerable.Range(1, 20).Select(Work)).Result.Sum();
    int queried = Enumerable.Range(0, 10000).AsParallel().Where(x => x % 7 == 0).Sum();
    var line = new BlockingCollection<int>(4);
    Task.Run(() => { for (int i = 0; i < 200; i++) line.Add(i); line.CompleteAdding(); });
    long consumed = line.GetConsumingEnumerable().Sum(x => (long)x);
    var team = Enumerable.Range(0, 3).Select(_ => Task.Run((Func<long>)Allocate)).ToArray();
    for (int i = 0; i < 3; i++) GC.Collect();
    long allocated = team.Sum(one => one.Result);
    Parallel.For(0, 40, i => {
      try { if (nothing.Length > 0) Interlocked.Add(ref caught, 1000); }
      catch (NullReferenceException) { Interlocked.Increment(ref caught); }
    });
    Console.WriteLine(total + " " + awaited + " " + queried + " " + consumed + " " + allocated + " " + caught);
    Environment.Exit(7);
  }
}
CS
  sharp Tasks
  ends_with 7 "$dotnet_home/dotnet" exec Tasks.dll
}

# Children, sockets, mapped files; code that the program makes for itself.
compat dotnet_outside needs=mcs modules=dotnetcore2 limit=120
case_dotnet_outside() {
  cat >Outside.cs <<'CS'
using System;
using System.Diagnostics;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.Linq.Expressions;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
class Outside {
  static void Main() {
    var sh = new ProcessStartInfo("/bin/sh", "-c \"echo child; read x; echo $x; exit 3\"") {
      RedirectStandardOutput = true, RedirectStandardInput = true, UseShellExecute = false };
    using (var child = Process.Start(sh)) {
      child.StandardInput.WriteLine("line");
      child.StandardInput.Close();
      Console.Write(child.StandardOutput.ReadToEnd());
      child.WaitForExit();
      Console.WriteLine(child.ExitCode);
    }
    var listener = new TcpListener(IPAddress.Loopback, 0);
    listener.Start();
    int port = ((IPEndPoint)listener.LocalEndpoint).Port;
    var server = new Thread(() => {
      using (var peer = listener.AcceptTcpClient()) {
        var bytes = new byte[64];
        int n = peer.GetStream().Read(bytes, 0, 64);
        peer.GetStream().Write(bytes, 0, n);
      }
    });
    server.Start();
    using (var client = new TcpClient("127.0.0.1", port)) {
      var stream = client.GetStream();
      stream.Write(Encoding.ASCII.GetBytes("hello"), 0, 5);
      var bytes = new byte[64];
      int n = stream.ReadAsync(bytes, 0, 64).Result;
      Console.WriteLine(Encoding.ASCII.GetString(bytes, 0, n));
    }
    server.Join();
    File.WriteAllText("out.txt", "text");
    using (var map = MemoryMappedFile.CreateNew(null, 8192))
    using (var view = map.CreateViewAccessor()) {
      view.Write(100, 42);
      Console.WriteLine(File.ReadAllText("out.txt") + view.ReadInt32(100));
    }
    var x = Expression.Parameter(typeof(int));
    var square = Expression.Lambda<Func<int, int>>(Expression.Multiply(x, x), x).Compile();
    var made = new Regex("(\\w+)@(\\w+)", RegexOptions.Compiled);
    Console.WriteLine(square(7) + " " + made.Matches("a@b c@d eee@fff").Count);
  }
}
CS
  sharp Outside
  under "$dotnet_home/dotnet" exec Outside.dll
}
