import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { silentLog } from '../../platform/log.ts';
import { createMetrics } from '../../modules/operations/metrics/metrics.ts';
import { watchDatabase } from '../../modules/operations/metrics/database.ts';
import { watchEmbedded } from '../../modules/operations/metrics/machine.ts';

/** The monitoring files of an operator: alerts for Prometheus, a dashboard for Grafana, and the guide to both. */
const root = new URL('../../../../../', import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, root), 'utf8');

const ALERTS = textOf('ops/prometheus/alerts.yml');
const rules = ALERTS.split(/^ {6}- alert: /m)
  .slice(1)
  .map((text) => ({
    name: text.split('\n')[0] ?? '',
    // Folded over several lines, or on one line.
    expr: /^ {8}expr: (?:>-\n((?: {10}.*\n)+)|(.*))/m.exec(text)?.slice(1).join('') ?? '',
    severity: /^ {10}severity: (.*)$/m.exec(text)?.[1],
    summary: /^ {10}summary: (.*)$/m.exec(text)?.[1],
    description: /^ {10}description: (.*)$/m.exec(text)?.[1],
    runbook: /^ {10}runbook_url: (.*)$/m.exec(text)?.[1],
  }));

type Panel = { title: string; targets?: { expr: string; legendFormat: string }[] };
const panels = (JSON.parse(textOf('ops/grafana/beckon.json')) as { panels: Panel[] }).panels;
const targets = panels.flatMap((panel) => panel.targets ?? []);

/** Returns all metrics and their labels. */
function knownMetrics(): Map<string, Set<string>> {
  const metrics = createMetrics({ version: '', node: '' });
  metrics.watchRelay(() => false);
  const db = {
    transaction: () => Promise.reject(new Error('never asked')),
    clock: { now: () => 0 },
    offsetMs: () => null,
    pools: () => [],
  };
  watchDatabase(metrics.registry, { db, log: silentLog });
  watchEmbedded(metrics.registry, { folder: '.', newestBackupAt: async () => 0 }, db.clock);
  metrics.stop();
  const names = new Map<string, Set<string>>();
  for (const metric of metrics.registry.getMetricsAsArray() as unknown as Described[]) {
    const { name, labelNames, constructor } = metric;
    const isHistogram = constructor.name === 'Histogram';
    for (const suffix of isHistogram ? ['_bucket', '_sum', '_count'] : [''])
      names.set(`${name}${suffix}`, new Set([...labelNames, ...(isHistogram ? ['le'] : []), ...OF_PLACE]));
  }
  // Prometheus adds `up` for each scrape.
  names.set('up', new Set(OF_PLACE));
  return names;
}
type Described = { name: string; labelNames: string[]; constructor: { name: string } };
/** Labels that the scraper and the merge of several processes add. */
const OF_PLACE = ['job', 'instance', 'process'];

/** Returns the series of an expression with the labels of their selectors, and the labels that it groups by. */
function seriesOf(expr: string): { series: { name: string; labels: string[] }[]; grouped: string[] } {
  const series = [...expr.matchAll(/\b(up|(?:beckon|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map((match) => ({
    name: match[1] ?? '',
    labels: [...(match[2] ?? '').matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label ?? ''),
  }));
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => (list ?? '').split(/,\s*/));
  return { series, grouped };
}

test('alerts and dashboard use existing metrics and labels', () => {
  const names = knownMetrics();
  const exprs = [...rules, ...targets].map(({ expr }) => expr);
  expect(exprs.filter((expr) => seriesOf(expr).series.length === 0)).toEqual([]);
  for (const expr of exprs) {
    const { series, grouped } = seriesOf(expr);
    for (const { name, labels } of series) {
      expect([...names.keys()], expr).toContain(name);
      for (const label of [...labels, ...grouped])
        expect([...(names.get(name) ?? [])], expr).toContain(label);
    }
  }
  const unlabelled = targets.flatMap(({ expr, legendFormat }) =>
    [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].filter(([, label = '']) =>
      seriesOf(expr).series.some(({ name }) => !names.get(name)?.has(label)),
    ),
  );
  expect(unlabelled).toEqual([]);
});

test('every alert has a severity, a summary, a description and a runbook', () => {
  expect(rules.length).toBeGreaterThan(20);
  expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
  const headings = [...textOf('docs/how-to/monitoring.md').matchAll(/^### (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^a-z ]/g, '')
      .replaceAll(' ', '-'),
  );
  for (const { name, severity, summary, description, runbook } of rules) {
    expect(['critical', 'warning'], name).toContain(severity);
    expect(
      [summary, description].every((text) => (text ?? '').length > 10),
      name,
    ).toBe(true);
    const [file, anchor] = (runbook ?? '').split('#');
    expect(file, name).toBe('docs/how-to/monitoring.md');
    expect(headings, name).toContain(anchor);
  }
  // Each runbook belongs to an alert.
  const used = new Set(rules.map(({ runbook }) => runbook?.split('#')[1]));
  expect(headings.filter((heading) => !used.has(heading))).toEqual([]);
});

/** Log events and commands in runbooks have tests of their own. */
test('runbooks name existing metrics', () => {
  const names = knownMetrics();
  const named = [...textOf('docs/how-to/monitoring.md').matchAll(/`((?:beckon|process|nodejs)_\w+)/g)];
  expect(named.length).toBeGreaterThan(3);
  expect(
    named.map(([, name = '']) => name).filter((name) => !names.has(name) && !names.has(`${name}_count`)),
  ).toEqual([]);
});

test('runbooks are numbered steps', () => {
  const runbooks = textOf('docs/how-to/monitoring.md').split(/^### /m).slice(1);
  const stepless = runbooks.filter((text) => !/^1\. [A-Z]/m.test(text.split(/^## /m)[0] ?? ''));
  expect(stepless.map((text) => text.split('\n')[0])).toEqual([]);
});

test('the reference lists all background jobs', () => {
  const table = textOf('packages/server/src/main/jobs.ts');
  const jobs = [...table.matchAll(/\bname: '(\w+)',\s+everyMs:/g)].map(([, name = '']) => name);
  expect(jobs.length).toBeGreaterThan(10);
  const [, section = ''] = textOf('docs/reference/metrics.md').split('### Background jobs');
  const listed = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, job]) => job);
  expect(listed).toEqual(jobs.toSorted());
});

const promtool = spawnSync('promtool', ['--version']).status === 0;

test.skipIf(!promtool)('alerts pass promtool check and test (skipped without promtool)', async () => {
  const cwd = fileURLToPath(new URL('ops/prometheus/', root));
  const checked = await promisify(execFile)('promtool', ['check', 'rules', 'alerts.yml'], { cwd });
  expect(checked.stdout).toContain(`${rules.length} rules found`);
  const tried = await promisify(execFile)('promtool', ['test', 'rules', 'alerts-test.yml'], { cwd });
  expect(tried.stdout).toContain('SUCCESS');
});
