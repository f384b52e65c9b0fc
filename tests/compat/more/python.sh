# Modules from PyPI and Debian: arrays, tables, learning, events. Those of PyPI are where `setup more` puts them.

serve() { exec "${prefix[@]}" "$@"; }

python_case() {
  export PYTHONPATH=$python_packages HOME=$PWD
  under /usr/bin/python3 "$@"
}

compat pandas needs=python3 modules=pandas limit=90
case_pandas() {
  python_case - <<'PY'
import pandas
t = pandas.DataFrame({'a': range(20000), 'b': [i % 7 for i in range(20000)]})
print(t.groupby('b').a.agg(['sum', 'count']).to_string())
print(t.merge(t.iloc[::500], on='a').shape, t.rolling(3).mean().a.iloc[-1])
PY
}

compat pyarrow needs=python3 modules=pyarrow limit=90
case_pyarrow() {
  python_case - <<'PY'
import pyarrow, pyarrow.compute as c, pyarrow.parquet as p
pyarrow.set_cpu_count(2)
t = pyarrow.table({'a': list(range(30000)), 'b': [i % 7 for i in range(30000)]})
p.write_table(t, 'a.parquet', row_group_size=3000)
u = p.read_table('a.parquet', use_threads=True)
print(u.group_by('b').aggregate([('a', 'sum')]).sort_by('b').to_pydict(), c.sum(u['a']))
PY
}

compat onnxruntime needs=python3 modules="onnxruntime onnx" limit=90
case_onnxruntime() {
  python_case - <<'PY'
import numpy, onnx, onnxruntime
from onnx import helper, TensorProto
f = TensorProto.FLOAT
g = helper.make_graph([helper.make_node('MatMul', ['x', 'w'], ['h']), helper.make_node('Relu', ['h'], ['r']), helper.make_node('MatMul', ['r', 'w'], ['y'])], 'g',
    [helper.make_tensor_value_info('x', f, [64, 64])], [helper.make_tensor_value_info('y', f, [64, 64])],
    [helper.make_tensor('w', f, [64, 64], [((i * 7) % 13 - 6) / 8 for i in range(4096)])])
m = helper.make_model(g, opset_imports=[helper.make_opsetid('', 13)]); m.ir_version = 8
o = onnxruntime.SessionOptions(); o.intra_op_num_threads = 2
s = onnxruntime.InferenceSession(m.SerializeToString(), o, providers=['CPUExecutionProvider'])
x = numpy.arange(4096, dtype=numpy.float32).reshape(64, 64) % 5
for _ in range(5): y = s.run(None, {'x': x})[0]
print(y.sum(), y[3, 5])
PY
}

compat opencv needs=python3 modules=cv2 limit=90
case_opencv() {
  python_case - <<'PY'
import cv2, hashlib, numpy
cv2.setNumThreads(2)
i = ((numpy.arange(400 * 300 * 3) * 7) % 251).astype(numpy.uint8).reshape(300, 400, 3)
j = cv2.warpAffine(cv2.medianBlur(cv2.resize(i, (800, 600), interpolation=cv2.INTER_NEAREST), 5), numpy.float32([[1, 0, 3], [0, 1, 4]]), (800, 600))
print(hashlib.sha256(j.tobytes()).hexdigest()[:16], cv2.Canny(j, 50, 100).sum())
PY
}

compat pillow needs=python3 modules="PIL lxml cryptography" limit=90
case_pillow() {
  python_case - <<'PY'
import hashlib, threading
from PIL import Image, ImageFilter
from lxml import etree
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
got = [None] * 4
def work(n):
    i = Image.new('RGB', (200, 100), (n * 20, 30, 40)).rotate(n * 10).filter(ImageFilter.GaussianBlur(2))
    e = etree.fromstring('<a>' + '<b c="%d"/>' % n * 200 + '</a>')
    got[n] = (hashlib.sha256(i.tobytes()).hexdigest()[:8], len(e.xpath('//b')), AESGCM(bytes(16)).encrypt(bytes(12), b'weir%d' % n, None).hex()[:8])
t = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[x.start() for x in t]; [x.join() for x in t]
print(got)
PY
}

compat numexpr needs=python3 modules=numexpr limit=90
case_numexpr() {
  NUMEXPR_NUM_THREADS=2 python_case -c 'import numexpr, numpy; a = numpy.arange(200000) % 97; print(numexpr.evaluate("sum(a * 3 + a ** 2)"), numexpr.evaluate("a * 2 + 1")[::40000])'
}

compat blosc needs=python3 modules=blosc2 limit=90
case_blosc() {
  python_case -c 'import blosc2, hashlib; blosc2.set_nthreads(2); d = bytes(i * i % 97 for i in range(300000)); c = blosc2.compress2(d, typesize=1); print(len(c) < len(d), blosc2.decompress2(c) == d)'
}

compat dask needs=python3 modules=dask limit=90
case_dask() {
  python_case - <<'PY'
import dask
@dask.delayed
def f(i): return sum(range(i * 100)) % 97
print(dask.compute(*[f(i) for i in range(20)], scheduler='threads', num_workers=3))
PY
}

compat gevent needs=python3 modules=gevent limit=90
case_gevent() {
  python_case - <<'PY'
from gevent import monkey; monkey.patch_all()
import gevent, socket, gevent.server, gevent.threadpool
def serve(s, a):
    while d := s.recv(100): s.sendall(d[::-1])
v = gevent.server.StreamServer(('127.0.0.1', 0), serve); v.start()
def ask(n):
    s = socket.create_connection(v.address); s.sendall(b'weir%d' % n); return s.recv(100)
print(sorted(j.value for j in gevent.joinall([gevent.spawn(ask, n) for n in range(5)])))
print(gevent.threadpool.ThreadPool(3).map(lambda x: x * x, range(8)))
PY
}

compat asyncio needs=python3 limit=90
case_asyncio() {
  under /usr/bin/python3 - <<'PY'
import asyncio
async def serve(r, w):
    while line := await r.readline(): w.write(line[::-1]); await w.drain()
    w.close()
async def ask(port, n):
    r, w = await asyncio.open_connection('127.0.0.1', port); got = []
    for k in range(10):
        w.write(b'%d %d\n' % (n, k)); got.append(await r.readexactly(4))
    w.close(); return b''.join(got)
async def main():
    s = await asyncio.start_server(serve, '127.0.0.1', 0); port = s.sockets[0].getsockname()[1]
    print(sum(len(x) for x in await asyncio.gather(*[ask(port, n) for n in range(6)])))
    print(await asyncio.gather(*[asyncio.to_thread(sum, range(n * 1000)) for n in range(6)]))
    p = await asyncio.create_subprocess_exec('echo', 'child', stdout=asyncio.subprocess.PIPE); print((await p.communicate())[0])
asyncio.run(main())
PY
}

compat futures needs=python3 limit=90
case_futures() {
  cat >f.py <<'PY'
import concurrent.futures as c, queue, sqlite3, threading
def f(n): return sum(range(n * 1000)) % 97
if __name__ == '__main__':
    with c.ThreadPoolExecutor(4) as e: print(list(e.map(f, range(16))))
    with c.ProcessPoolExecutor(2) as e: print(list(e.map(f, range(16))))
    b = sqlite3.connect('b.db', check_same_thread=False, timeout=30); b.execute('create table t(n)'); b.commit()
    def put(k):
        d = sqlite3.connect('b.db', timeout=30)
        for n in range(10):
            with d: d.execute('insert into t values(?)', (n * k,))
    t = [threading.Thread(target=put, args=(k,)) for k in (1, 2, 3)]
    [x.start() for x in t]; [x.join() for x in t]
    print(b.execute('select count(*), sum(n) from t').fetchall())
PY
  under /usr/bin/python3 f.py
}

compat zmq needs=python3 modules=zmq limit=90
case_zmq() {
  python_case - <<'PY'
import threading, zmq
c = zmq.Context(2)
s = c.socket(zmq.PULL); port = s.bind_to_random_port('tcp://127.0.0.1')
def push(k):
    o = c.socket(zmq.PUSH); o.connect('tcp://127.0.0.1:%d' % port)
    for n in range(50): o.send(b'%d' % (n * k))
    o.close()
t = [threading.Thread(target=push, args=(k,)) for k in (1, 2)]
[x.start() for x in t]
print(sum(int(s.recv()) for _ in range(100)))
[x.join() for x in t]
PY
}

compat grpc needs=python3 modules=grpc limit=90
case_grpc() {
  python_case - <<'PY'
import concurrent.futures as f, grpc
class H(grpc.GenericRpcHandler):
    def service(self, d): return grpc.unary_unary_rpc_method_handler(lambda r, c: r[::-1])
s = grpc.server(f.ThreadPoolExecutor(2)); s.add_generic_rpc_handlers((H(),)); p = s.add_insecure_port('127.0.0.1:0'); s.start()
with grpc.insecure_channel('127.0.0.1:%d' % p) as ch:
    call = ch.unary_unary('/a/b')
    print([call(b'weir%d' % n, timeout=60) for n in range(5)], [x.result() for x in [call.future(b'%d' % n, timeout=60) for n in range(5)]])
s.stop(None).wait()
PY
}

compat tokenizers needs=python3 modules=tokenizers limit=90
case_tokenizers() {
  TOKENIZERS_PARALLELISM=true RAYON_NUM_THREADS=2 python_case - <<'PY'
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
t = Tokenizer(models.BPE(unk_token='?')); t.pre_tokenizer = pre_tokenizers.Whitespace()
text = ['the weir is a low wall across a river %d' % (n % 17) for n in range(500)]
t.train_from_iterator(text, trainers.BpeTrainer(vocab_size=200, special_tokens=['?'], show_progress=False))
print(len(t.encode_batch(text)), t.encode('the weir').tokens)
PY
}

compat uvicorn needs="python3 curl" modules=uvicorn limit=90
case_uvicorn() {
  local port server
  port=$(free_port)
  printf 'async def app(s, r, send):\n    if s["type"] != "http": return\n    await send({"type": "http.response.start", "status": 200, "headers": []})\n    await send({"type": "http.response.body", "body": s["path"].encode() * 3})\n' >a.py
  export PYTHONPATH=$python_packages
  serve /usr/bin/python3 -m uvicorn --log-level critical --host 127.0.0.1 --port "$port" a:app >words 2>&1 &
  server=$!
  ask listening "$port"
  for n in 1 2 3; do curl -s "http://127.0.0.1:$port/p$n"; echo; done
  stop "$server" TERM
}
