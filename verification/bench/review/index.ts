import { quantile } from '../measure.ts';
import { ms, ratio, round, show } from '../print.ts';
import { openGround, type Server } from '../stage.ts';
import { type Desk, fill, signIn } from './desk.ts';

/** The figures of docs/explanation/benchmarks.md come from the full size. The quick size still has a draft for each action. */
const DRAFTS = { full: 50_000, quick: 2_000 };
const ACTS = 300;
const PAGE = 100;

type Listed = { data: { id: string }[]; meta: { cursor: string | null } };

/** `npm run bench -- review [--quick]` measures how long a member waits in Review while it holds many drafts. */
export async function benchReview(args: string[]): Promise<void> {
  const drafts = args.includes('--quick') ? DRAFTS.quick : DRAFTS.full;
  const ground = await openGround();
  try {
    const project = await ground.project();
    const server = await fill(ground, { project, drafts });
    const desk = await signIn(ground, { server, project });
    const bare = await ground.script('verification/bench/review/bare-process.ts');
    await show(
      `Review with ${round(drafts)} open drafts; one person, one request at a time`,
      ['what', 'p50', 'p95', 'against the bare route'],
      () => figures({ desk, bare }),
    );
  } finally {
    await ground.close();
  }
}

type Sides = { desk: Desk; bare: Server };

async function figures({ desk, bare }: Sides): Promise<string[][]> {
  const base = `/projects/${desk.projectId}/drafts`;
  const rows: [string, number[]][] = [];
  const pages = await listAll(desk, base);
  rows.push([
    'first page of 100',
    await timed(ACTS / 10, () => desk.ask('GET', `${base}?view=review&limit=${PAGE}`)),
  ]);
  rows.push(['any later page', pages.ms]);
  rows.push(['counts of all groups', await timed(ACTS / 10, () => desk.ask('GET', `${base}/counts`))]);
  const ids = pages.ids.values();
  const next = (): string => ids.next().value ?? '';
  const least = await timed(ACTS, () => actBare(bare, { project: desk.projectId, draft: next() }));
  rows.push(['open a draft', await timed(ACTS, () => desk.ask('GET', `${base}/${next()}`))]);
  rows.push([
    'what stands beside it',
    await timed(ACTS / 3, () => desk.ask('GET', `${base}/${next()}/context`)),
  ]);
  rows.push(['approve', await timed(ACTS, () => desk.ask('POST', `${base}/${next()}/approve`, {}))]);
  rows.push(['skip', await timed(ACTS, () => desk.ask('POST', `${base}/${next()}/skip`, {}))]);
  const until = new Date(Date.now() + 50 * 3_600_000).toISOString();
  rows.push(['postpone', await timed(ACTS, () => desk.ask('POST', `${base}/${next()}/postpone`, { until }))]);
  const floor = quantile(least, 0.95);
  return [['a bare route and one row', least] as [string, number[]], ...rows].map(([what, times]) => [
    what,
    ms(quantile(times, 0.5)),
    ms(quantile(times, 0.95)),
    ratio(quantile(times, 0.95) / floor),
  ]);
}

async function listAll(desk: Desk, base: string): Promise<{ ids: string[]; ms: number[] }> {
  const seen = { ids: [] as string[], ms: [] as number[] };
  for (let cursor: string | null = ''; cursor !== null;) {
    const at = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const startedAt = performance.now();
    const page: Listed = await desk.ask('GET', `${base}?view=review&limit=${PAGE}${at}`);
    seen.ms.push(performance.now() - startedAt);
    seen.ids.push(...page.data.map(({ id }) => id));
    ({ cursor } = page.meta);
  }
  return seen;
}

async function actBare({ port }: Server, body: { project: number; draft: string }): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
}

async function timed(times: number, act: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const startedAt = performance.now();
    await act();
    taken.push(performance.now() - startedAt);
  }
  return taken;
}
