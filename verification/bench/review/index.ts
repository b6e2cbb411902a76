import { quantile } from '../measure.ts';
import { ms, ratio, round, show } from '../print.ts';
import { openTestbed, type Server } from '../testbed.ts';
import { hasBrowser } from '../../../e2e/kit/browser.ts';
import { clickFigures, inBrowser, scriptFigures, taskFigures } from './in-browser.ts';
import { type ReviewClient, fill, fillUsers, signIn } from './review-client.ts';

/** The figures of docs/explanation/benchmarks.md come from the full size. The quick size still has a draft for each action. */
const DRAFTS = { full: 50_000, quick: 2_000 };
const USERS = { full: 300_000, quick: 5_000 };
const ACTIONS = 300;
const PAGE = 100;

type DraftPage = { data: { id: string }[]; meta: { cursor: string | null } };

/**
 * `npm run bench -- review [--quick] [--browser]` measures how long a member waits in Review while it holds many drafts. It measures the
 * requests, and the dashboard in Chromium, where the list of users is long too. `--browser` omits the requests. It needs the built dashboard.
 */
export async function benchReview(args: string[]): Promise<void> {
  const size = args.includes('--quick') ? 'quick' : 'full';
  const [drafts, users] = [DRAFTS[size], USERS[size]];
  const testbed = await openTestbed();
  try {
    const project = await testbed.project();
    const server = await fill(testbed, { project, drafts });
    const client = await signIn(testbed, { server, project });
    await fillUsers(testbed, project, users);
    if (hasBrowser) await showBrowser(client, { drafts, users });
    if (args.includes('--browser')) return;
    const baseline = await testbed.script('verification/bench/review/baseline-process.ts');
    await show(
      `Review with ${round(drafts)} open drafts; one person, one request at a time`,
      ['request', 'p50', 'p95', 'against the bare route'],
      () => figures({ client, baseline }),
    );
  } finally {
    await testbed.close();
  }
}

async function showBrowser(
  client: ReviewClient,
  { drafts, users }: { drafts: number; users: number },
): Promise<void> {
  const size = `${round(drafts)} open drafts and ${round(users)} users`;
  await show(`Chromium: warm clicks with ${size}`, ['what', 'time', 'against the bare page'], () =>
    inBrowser(client, clickFigures),
  );
  await show(
    `Chromium: the longest task with ${size}`,
    ['list', 'loading', 'scrolling', 'filtering and sorting'],
    () => inBrowser(client, taskFigures),
  );
  await show('Chromium: script until the data of a screen is shown', ['screen', 'transferred'], () =>
    inBrowser(client, scriptFigures),
  );
}

type Sides = { client: ReviewClient; baseline: Server };

async function figures({ client, baseline }: Sides): Promise<string[][]> {
  const base = `/projects/${client.projectId}/drafts`;
  const rows: [string, number[]][] = [];
  const pages = await listAll(client, base);
  rows.push([
    'first page of 100',
    await timesOf(ACTIONS / 10, () => client.request('GET', `${base}?view=review&limit=${PAGE}`)),
  ]);
  rows.push(['any later page', pages.ms]);
  rows.push([
    'counts of all groups',
    await timesOf(ACTIONS / 10, () => client.request('GET', `${base}/counts`)),
  ]);
  const ids = pages.ids.values();
  const next = (): string => ids.next().value ?? '';
  const baselineTimes = await timesOf(ACTIONS, () =>
    actOnBaseline(baseline, { project: client.projectId, draft: next() }),
  );
  rows.push(['open a draft', await timesOf(ACTIONS, () => client.request('GET', `${base}/${next()}`))]);
  rows.push([
    'its context',
    await timesOf(ACTIONS / 3, () => client.request('GET', `${base}/${next()}/context`)),
  ]);
  rows.push([
    'approve',
    await timesOf(ACTIONS, () => client.request('POST', `${base}/${next()}/approve`, {})),
  ]);
  rows.push(['skip', await timesOf(ACTIONS, () => client.request('POST', `${base}/${next()}/skip`, {}))]);
  const until = new Date(Date.now() + 50 * 3_600_000).toISOString();
  rows.push([
    'postpone',
    await timesOf(ACTIONS, () => client.request('POST', `${base}/${next()}/postpone`, { until })),
  ]);
  const baselineP95 = quantile(baselineTimes, 0.95);
  return [['a bare route and one row', baselineTimes] as [string, number[]], ...rows].map(([name, times]) => [
    name,
    ms(quantile(times, 0.5)),
    ms(quantile(times, 0.95)),
    ratio(quantile(times, 0.95) / baselineP95),
  ]);
}

async function listAll(client: ReviewClient, base: string): Promise<{ ids: string[]; ms: number[] }> {
  const listing = { ids: [] as string[], ms: [] as number[] };
  for (let cursor: string | null = ''; cursor !== null;) {
    const at = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const startedAt = performance.now();
    const page: DraftPage = await client.request('GET', `${base}?view=review&limit=${PAGE}${at}`);
    listing.ms.push(performance.now() - startedAt);
    listing.ids.push(...page.data.map(({ id }) => id));
    ({ cursor } = page.meta);
  }
  return listing;
}

async function actOnBaseline({ port }: Server, body: { project: number; draft: string }): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
}

async function timesOf(times: number, act: () => Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const startedAt = performance.now();
    await act();
    durations.push(performance.now() - startedAt);
  }
  return durations;
}
