# Tools from npm, where `setup more` puts them: compilers, bundlers, tests.

compat esbuild needs=node files="$node_packages/esbuild/package.json" limit=90 orders="free token record"
case_esbuild() {
  for n in 1 2 3 4; do echo "export const v$n: number = $n * 7; export function f$n(x: string): string { return x + v$n }" >"m$n.ts"; done
  for n in 1 2 3 4; do echo "import { f$n } from './m$n'; console.log(f$n('a'))"; done >a.ts
  under "$node_packages/esbuild/bin/esbuild" a.ts --bundle --minify --outfile=out.js --log-level=error
  node out.js
  same_bytes out.js
}

compat swc needs=node files="$node_packages/@swc/core/package.json" limit=90 orders="free token record"
case_swc() {
  cat >s.js <<JS
const swc = require('$node_packages/@swc/core');
Promise.all([1, 2, 3, 4].map(n => swc.transform('const f = (a: number): number => a ?? ' + n + ';', { jsc: { parser: { syntax: 'typescript' }, target: 'es5' } })))
  .then(all => all.forEach(r => console.log(r.code)));
JS
  under node s.js
}

compat terser needs=node files="$node_packages/terser/package.json" limit=90 orders="free token record"
case_terser() {
  printf 'function add(first, second) { const total = first + second; return total; }\nconsole.log(add(20, 22));\n' >a.js
  under node "$node_packages/terser/bin/terser" a.js -c -m --toplevel
}

compat node_cluster needs=node limit=90
case_node_cluster() {
  cat >c.js <<'JS'
const cluster = require('cluster'), net = require('net');
if (cluster.isPrimary) {
  let up = 0, got = [];
  for (let i = 0; i < 2; i++) cluster.fork();
  cluster.on('listening', (w, a) => { if (++up === 2) ask(a.port, 0); });
  const ask = (port, n) => {
    if (n === 10) { console.log(got.join(' ')); for (const w of Object.values(cluster.workers)) w.kill(); return; }
    const s = net.connect(port, '127.0.0.1', () => s.end('m' + n)); let t = '';
    s.on('data', d => t += d); s.on('close', () => { got.push(t); ask(port, n + 1); });
  };
} else net.createServer({ allowHalfOpen: true }, s => { let t = ''; s.on('data', d => t += d); s.on('end', () => s.end(t + t)); }).listen(0, '127.0.0.1');
JS
  under node c.js
}

compat node_pool needs=node limit=90 orders="free token record"
case_node_pool() {
  cat >p.js <<'JS'
const c = require('crypto'), z = require('zlib'), fs = require('fs').promises, { promisify: p } = require('util');
Promise.all([1, 2, 3, 4].map(n => p(c.pbkdf2)('weir' + n, 'salt', 500, 16, 'sha256'))
  .concat([1, 2].map(n => p(z.gzip)(Buffer.alloc(50000, n)).then(p(z.gunzip)).then(b => b.subarray(0, 4))))
  .concat([fs.readFile(__filename).then(b => b.subarray(0, 8))])).then(all => console.log(all.map(b => b.toString('hex')).join('\n')));
JS
  under node p.js
}
