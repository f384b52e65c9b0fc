# Programs that make code at run time, and programs whose constants lie among code: Java, node, LuaJIT, PyPy, Haskell, LLVM.

compat java_version needs=java
case_java_version() {
  under java -Xshare:auto -version 2>&1
}

# At View isolated node may wait for ever (docs/LIMITS.md).
compat node_objects needs=node views="direct coherent"
case_node_objects() {
  cat >objects.js <<'END'
let sum = 0;
for (let i = 0; i < 300000; i++) sum = (sum * 31 + i) | 0;
const table = {};
for (let i = 0; i < 1000; i++) table['key ' + i] = i;
console.log(sum, Object.keys(table).length);
END
  under node objects.js
}

compat node_modules needs=node views="direct coherent"
case_node_modules() {
  cat >modules.js <<'END'
const fs = require('fs'), crypto = require('crypto'), zlib = require('zlib');
const data = fs.readFileSync(process.argv[2]);
console.log(crypto.createHash('sha256').update(data).digest('hex'));
zlib.deflate(data, (error, packed) => console.log(zlib.inflateSync(packed).equals(data)));
END
  under node modules.js "$input/mixed"
}

compat luajit_strings needs=luajit limit=60
case_luajit_strings() {
  under luajit - <<'END'
local sum, parts = 0, {}
for i = 1, 100000 do sum = (sum * 31 + i) % 1000003 end
for i = 1, 1000 do parts[i] = ("%d"):format(i) end
print(sum, #table.concat(parts))
END
}

compat pypy_threads needs=pypy3
case_pypy_threads() {
  under pypy3 - "$threads" <<'END'
import sys, threading
lock, found = threading.Lock(), []
def work(number):
    total = 0
    for i in range(20000): total = (total * 31 + i * number) % 1000003
    with lock: found.append((number, total))
team = [threading.Thread(target=work, args=(n,)) for n in range(int(sys.argv[1]))]
for one in team: one.start()
for one in team: one.join()
print(sorted(found))
END
}

compat haskell_threads needs=ghc limit=120
case_haskell_threads() {
  cat >Main.hs <<'END'
import Control.Concurrent
import Data.IORef
main = do
  total <- newMVar (0 :: Int)
  count <- newIORef (0 :: Int)
  ends <- mapM (\k -> do
    end <- newEmptyMVar
    _ <- forkOS $ do
      mapM_ (\i -> modifyMVar_ total (return . (+ i * k)) >> atomicModifyIORef' count (\x -> (x + 1, ()))) [1 .. 300]
      putMVar end ()
    return end) [1 .. 4]
  mapM_ takeMVar ends
  readMVar total >>= print
  readIORef count >>= print
END
  ghc -threaded -rtsopts -O Main.hs -o haskell >words
  strip haskell
  under ./haskell +RTS -N2
}

# rustc is two libraries of a hundred megabytes, and LLVM's has its constants among its code.
compat rustc_version needs=rustc
case_rustc_version() {
  under rustc --version --verbose
}
