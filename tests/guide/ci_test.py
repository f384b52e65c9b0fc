#!/usr/bin/env python3
"""The recipes of a page of docs/guide, ci.md unless another is named, are executed: on a copy of tests/guide/project, with the build's weir first on the PATH.

Each fenced block has a line before it that says what is done with it:
    <!-- ci: run [status=N|N...] [prints="TEXT"] [keeps=FOLDER] -->   it is executed, and ends with one of N (default 0); its output has TEXT; afterwards FOLDER holds
                                                                 exactly one recording or more, each replays as recorded, and they are removed
    <!-- ci: in FILE -->                                         FILE of the project has these lines
    <!-- ci: check -->                                           its shell lines are read by bash -n
Of YAML the lines of `run`, `before_script` and `script` are executed, of a Dockerfile those of RUN that begin with weir.
usage: ci_test.py BUILD [PAGE]"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import yaml

here = os.path.dirname(os.path.realpath(__file__))
page = sys.argv[2] if len(sys.argv) > 2 else 'ci.md'
guide = os.path.realpath(f'{here}/../../docs/guide/{page}')
least = {'ci.md': 15, 'hunt.md': 5}  # blocks


class Failed(Exception):
    pass


class Block:
    def __init__(self, line, language, marker, text):
        self.place = f'docs/guide/{page}:{line}'
        self.language, self.marker, self.text = language, marker, text

    def value(self, name, default=None):
        for word in shlex.split(self.marker):
            if word.startswith(name + '='):
                return word[len(name) + 1:]
        return default


def blocks():
    lines = open(guide, encoding='utf-8').read().split('\n')
    found, at = [], 0
    while at < len(lines):
        fence = re.match(r'```(\w*)$', lines[at])
        if not fence:
            at += 1
            continue
        end = lines.index('```', at + 1)
        marker = re.match(r'<!-- ci: (.*) -->$', lines[at - 1])
        if not marker:
            raise Failed(f'docs/guide/{page}:{at + 1}: nothing says what is done with this block')
        found.append(Block(at + 1, fence[1], marker[1], '\n'.join(lines[at + 1:end]) + '\n'))
        at = end + 1
    if len(found) < least[page]:
        raise Failed(f'only {len(found)} blocks')
    return found


def shell_of_yaml(text):
    """The shell lines of a workflow, and what its artifacts are."""
    document = yaml.safe_load(text)
    scripts, artifacts, variables = [], [], dict(document.get('variables', {}))
    jobs = document.get('jobs') or {name: job for name, job in document.items() if isinstance(job, dict) and 'script' in job}
    for job in jobs.values():
        variables.update(job.get('env', {}))
        for step in job.get('steps', []):
            if 'run' in step:
                scripts.append(step['run'])
            if 'upload-artifact' in step.get('uses', ''):
                artifacts.append(step['with']['path'])
        for key in ('before_script', 'script'):
            scripts += job.get(key, [])
        artifacts += job.get('artifacts', {}).get('paths', [])
    if not scripts or not artifacts:
        raise Failed('no shell lines or no artifacts')
    return scripts, artifacts, variables


def shell_of_dockerfile(text):
    """The commands of RUN; ENV as exports."""
    scripts = []
    for line in re.sub(r'\\\n', ' ', text).split('\n'):
        word, _, rest = line.partition(' ')
        if word == 'RUN':
            scripts.append(rest)
        elif word and word not in ('FROM', 'COPY', 'ENV'):
            raise Failed(f'what is {word}?')
    return scripts


def parse(script):
    subprocess.run(['bash', '-n'], input=script, text=True, check=True)


class Project:
    def __init__(self, build, work):
        self.folder = f'{work}/project'
        shutil.copytree(f'{here}/project', self.folder)
        self.environment = {'PATH': f'{build}/bin:{os.environ["PATH"]}', 'HOME': work, 'LANG': 'C.UTF-8', 'PYTHONDONTWRITEBYTECODE': '1'}

    def bash(self, script, more=None):
        return subprocess.run(['bash', '-eo', 'pipefail', '-c', script], cwd=self.folder, env={**self.environment, **(more or {})}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=400)

    def check_kept(self, name):
        folder = f'{self.folder}/{name}'
        names = os.listdir(folder) if os.path.isdir(folder) else []
        if not names:
            raise Failed(f'{name} holds no recording')
        for one in names:
            ended = self.bash(f'weir replay --verify {shlex.quote(folder + "/" + one)}')
            if ended.returncode != 0:
                raise Failed(f'{one} does not replay: {ended.stdout}')
        shutil.rmtree(folder)


def execute(project, block):
    if block.marker == 'check':
        return parse(block.text)
    inside = re.match(r'in (\S+)$', block.marker)
    if inside:
        if block.text not in open(f'{project.folder}/{inside[1]}', encoding='utf-8').read():
            raise Failed(f'{inside[1]} has other lines')
        return None
    if not block.marker.startswith('run'):
        raise Failed(f'what is "{block.marker}"?')
    more = {}
    if block.language == 'yaml':
        scripts, artifacts, variables = shell_of_yaml(block.text)
        if block.value('keeps') not in artifacts:
            raise Failed(f'artifacts: {artifacts}')
        for name, value in variables.items():
            more[name] = re.sub(r'\$\{\{ github\.workspace \}\}|\$CI_PROJECT_DIR', project.folder, value)
    elif block.language == 'dockerfile':
        scripts = shell_of_dockerfile(block.text)
        for script in scripts:
            parse(script)
        scripts = [script for script in scripts if script.startswith('weir ')]
    else:
        scripts = [block.text]
    said, status = '', 0
    for script in scripts:  # a step that fails is the job's last
        parse(script)
        ended = project.bash(script, more)
        said += ended.stdout
        status = ended.returncode
        if status != 0:
            break
    if str(status) not in block.value('status', '0').split('|'):
        raise Failed(f'status {status}: {said}')
    if block.value('prints', '') not in said:
        raise Failed(f'it does not print {block.value("prints")}: {said}')
    if status != 0 and script is not scripts[-1]:
        raise Failed(f'not the last step fails: {said}')
    if block.value('keeps'):
        project.check_kept(block.value('keeps'))
    return None


def main(build):
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        project = Project(os.path.realpath(build), work)
        for block in blocks():
            try:
                execute(project, block)
                print(f'{block.place}: ok', flush=True)
            except (Failed, subprocess.SubprocessError, OSError, KeyError, yaml.YAMLError) as failure:
                failed += 1
                print(f'FAILED: {block.place}: {failure}', flush=True)
    print(f'guide: {failed} failures')
    return failed != 0


sys.exit(main(sys.argv[1]))
