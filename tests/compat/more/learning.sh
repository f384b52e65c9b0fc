# Libraries of PyPI and npm that have threads, or processes, of their own. What they compute follows
# from seeds.

compat lightgbm needs=python3 modules=lightgbm limit=120
case_lightgbm() {
  export PYTHONPATH=$python_packages
  under /usr/bin/python3 - "$threads" <<'PY'
import lightgbm, numpy, sys
r = numpy.random.default_rng(5)
x = r.standard_normal((600, 8))
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
how = {'objective': 'binary', 'num_threads': int(sys.argv[1]), 'deterministic': True,
       'force_row_wise': True, 'verbose': -1, 'seed': 3}
model = lightgbm.train(how, lightgbm.Dataset(x, y), 12)
print(model.num_trees(), round(float(model.predict(x).sum()), 6))
PY
}

compat xgboost needs=python3 modules=xgboost limit=120
case_xgboost() {
  export PYTHONPATH=$python_packages
  under /usr/bin/python3 - "$threads" <<'PY'
import numpy, sys, xgboost
r = numpy.random.default_rng(5)
x = r.standard_normal((600, 8))
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
how = {'objective': 'binary:logistic', 'nthread': int(sys.argv[1]), 'seed': 3, 'max_depth': 4}
model = xgboost.train(how, xgboost.DMatrix(x, y, nthread=2), 12)
print(model.num_boosted_rounds(), round(float(model.predict(xgboost.DMatrix(x)).sum()), 3))
PY
}

# joblib's threads, and OpenMP's.
compat scikit_learn needs=python3 modules=sklearn limit=180
case_scikit_learn() {
  export PYTHONPATH=$python_packages
  under /usr/bin/python3 - "$threads" <<'PY'
import numpy, sys
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
r = numpy.random.default_rng(5)
x = r.standard_normal((400, 6))
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
forest = RandomForestClassifier(n_estimators=12, n_jobs=int(sys.argv[1]), random_state=3).fit(x, y)
groups = KMeans(3, n_init=2, random_state=3).fit(x)
print(forest.predict(x).sum(), round(float(groups.inertia_), 6))
PY
}

compat scipy_workers needs=python3 modules=scipy limit=120
case_scipy_workers() {
  under /usr/bin/python3 - "$threads" <<'PY'
import numpy, sys
from scipy import fft, spatial
workers = int(sys.argv[1])
a = numpy.random.default_rng(5).standard_normal((64, 1024))
near = spatial.cKDTree(a[:, :3]).query(a[:, 3:6], workers=workers)[1]
print(round(float(abs(fft.fft2(a, workers=workers)).sum()), 4), near.sum())
PY
}

# A pool of node's worker threads.
compat piscina needs=node files="$node_packages/piscina" limit=120
case_piscina() {
  cat >work.js <<'JS'
module.exports = ({ n }) => { let s = 0; for (let i = 0; i < 20000; i++) s += i % n; return s; };
JS
  cat >main.js <<'JS'
const { Piscina } = require('piscina');
const pool = new Piscina({ filename: __dirname + '/work.js', maxThreads: 3 });
Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => pool.run({ n })))
  .then((all) => { console.log(all.join(' ')); return pool.destroy(); });
JS
  NODE_PATH=$node_packages under node main.js
}

# The same with another library, and with processes.
compat workerpool needs=node files="$node_packages/workerpool" limit=120
case_workerpool() {
  cat >main.js <<'JS'
const workerpool = require('workerpool');
const work = (n) => { let s = 0; for (let i = 0; i < 20000; i++) s += i % n; return s; };
(async () => {
  for (const workerType of ['thread', 'process']) {
    const pool = workerpool.pool({ workerType, maxWorkers: 3 });
    console.log((await Promise.all([1, 2, 3, 4, 5, 6].map((n) => pool.exec(work, [n])))).join(' '));
    await pool.terminate();
  }
})();
JS
  NODE_PATH=$node_packages under node main.js
}

# libvips in the threads of libuv's pool and its own.
compat sharp needs=node files="$node_packages/sharp" limit=120
case_sharp() {
  cat >main.js <<'JS'
const sharp = require('sharp');
const raw = { width: 300, height: 200, channels: 3 };
const bytes = Buffer.from(Array.from({ length: 300 * 200 * 3 }, (_, i) => (i * i) >> 5 & 255));
const one = (n) => sharp(bytes, { raw }).resize(40 + n, 30).rotate(90).blur(2).png().toBuffer();
Promise.all([1, 2, 3, 4].map(one)).then((all) => {
  const digest = (b) => require('crypto').createHash('sha256').update(b).digest('hex').slice(0, 16);
  console.log(all.map(digest).join(' '));
});
JS
  NODE_PATH=$node_packages under node main.js
}
