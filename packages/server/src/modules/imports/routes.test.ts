import { afterAll, expect, test } from 'vitest';
import type { Import, ImportFinding, ImportSample } from '@beckon/contract/dashboard';
import { systemClock } from '../../platform/time/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { DASHBOARD_ORIGIN, type Reply, testDashboard } from '../../../testing/servers/dashboard.ts';
import { importDeps, workThrough } from '../../../testing/factories/imports.ts';
import { listProjects } from '../workspace/projects/project.ts';
import { createProject } from '../administration/create-project.ts';

const db = await openTestDatabase(systemClock);
const dashboard = testDashboard(db);
const url = await dashboard.url();
afterAll(() => dashboard.close());
const { id: projectId } = await createProject(db, { name: 'Acme' });
const imports = `/projects/${projectId}/imports`;
const request = <T = Import>(
  what: string,
  body?: unknown,
  as: 'editor' | 'viewer' = 'editor',
): Promise<Reply<T>> => dashboard.request<T>(what, { as, ...(body === undefined ? {} : { body }) });

type Sent = { bytes: string | Buffer; type?: string };

async function put(job: Import, part: number, { bytes, type = 'application/octet-stream' }: Sent) {
  const response = await fetch(`${url}/api/dashboard${imports}/${job.id}/parts/${part}`, {
    method: 'PUT',
    headers: { origin: DASHBOARD_ORIGIN, 'x-test-role': 'editor', 'content-type': type },
    body: new Uint8Array(Buffer.from(bytes)),
  });
  return {
    status: response.status,
    json: (await response.json()) as { data: Import; errors: { field: string }[] },
  };
}

async function uploaded(text: string, kind: 'users' | 'events' = 'users'): Promise<Import> {
  const size = Buffer.byteLength(text);
  const { json } = await request(`POST ${imports}`, { kind, name: 'a.csv', size_bytes: size });
  return (await put(json.data, 0, { bytes: text })).json.data;
}

const audited = async (): Promise<string[]> =>
  (
    await db.query<{ action: string }>('SELECT action FROM beckon.audit WHERE project_id = $1 ORDER BY id', [
      projectId,
    ])
  ).map(({ action }) => action);

test('rejects an invalid time and a forged cursor, with their fields', async () => {
  const file = { kind: 'users', name: 'a.csv', size_bytes: 10 };
  const fieldsOf = ({ status, json }: Reply<Import>): unknown => [
    status,
    json.errors.map(({ field }) => field),
  ];
  expect(fieldsOf(await request(`POST ${imports}`, { ...file, file_modified_at: 1e300 }))).toEqual([
    422,
    ['file_modified_at'],
  ]);
  const cursor = Buffer.from(JSON.stringify(['-'.repeat(36)])).toString('base64url');
  expect(fieldsOf(await request(`GET ${imports}?cursor=${cursor}`))).toEqual([422, ['cursor']]);
});

test('uploads a file in parts, then maps, checks, starts and reports the import', async () => {
  const text = 'Kunde;Mail\nada;ada@x.org\nbob;=cmd|calc\n';
  const size = Buffer.byteLength(text);
  const made = await request(`POST ${imports}`, { kind: 'users', name: ' a\u0007.csv ', size_bytes: size });
  const job = made.json.data;
  expect(job).toMatchObject({ name: 'a.csv', state: 'uploading', parts_total: 1, part_bytes: 4_194_304 });
  expect((await put(job, 0, { bytes: 'short' })).json.errors).toMatchObject([{ field: 'body' }]);
  expect((await put(job, 1, { bytes: text })).json.errors).toMatchObject([{ field: 'part' }]);
  expect((await put(job, 0, { bytes: text })).json.data.state).toBe('ready');
  // The answer was lost, and the browser sends the part again.
  expect((await put(job, 0, { bytes: text })).json.data.state).toBe('ready');
  expect((await request<{ parts: number[] }>(`GET ${imports}/${job.id}/parts`)).json.data.parts).toEqual([0]);

  const refused = await request(`POST ${imports}/${job.id}/check`);
  expect(refused.json.errors).toMatchObject([{ field: 'external_user_id' }]);
  const mapping = { columns: { Kunde: { to: 'external_user_id' }, Mail: { to: 'email' } } };
  const sample = await request<ImportSample>(`POST ${imports}/${job.id}/sample`, { mapping });
  expect(sample.json.data).toMatchObject({
    delimiter: ';',
    problems: [],
    rows: [{ faults: [] }, { faults: [{ field: 'email' }] }],
  });
  expect((await request(`PUT ${imports}/${job.id}/mapping`, { mapping })).json.data.mapping).toEqual(mapping);
  expect((await request(`POST ${imports}/${job.id}/start`, {})).status).toBe(409);
  expect((await request(`POST ${imports}/${job.id}/check`)).json.data.state).toBe('checking');
  await workThrough(importDeps(db));
  expect((await request(`POST ${imports}/${job.id}/start`, { live_events: 2 })).json.errors).toMatchObject([
    { field: 'live_events' },
  ]);
  await request(`POST ${imports}/${job.id}/start`, {});
  await workThrough(importDeps(db));
  const finished = (await request(`GET ${imports}/${job.id}`)).json.data;
  expect(finished).toMatchObject({ state: 'done', progress: { rows: 2, rejected: 1, users: { new: 1 } } });

  const findings = await request<ImportFinding[]>(`GET ${imports}/${job.id}/findings`);
  expect(findings.json.data).toMatchObject([{ kind: 'rejected', row: 3, field: 'email' }]);
  const list = await request<Import[]>(`GET ${imports}`);
  expect(list.json.data).toMatchObject([{ id: job.id, created_by: 'Ada' }]);
  expect(await audited()).toEqual([
    'import.create',
    'import.upload',
    'import.upload',
    'import.map',
    'import.check',
    'import.start',
  ]);
});

test('exports the rejected rows as CSV without formulas', async () => {
  const job = await uploaded('id,email\n=cmd|calc,b\n');
  await request(`POST ${imports}/${job.id}/check`);
  await workThrough(importDeps(db));
  const { text, headers } = await request(`GET ${imports}/${job.id}/rejected.csv`);
  expect(headers['content-type']).toContain('text/csv');
  const [, row] = text.split('\r\n');
  expect(row).toMatch(/^2,email,email must be/);
  // The row as JSON begins with a brace; a row of the file itself would begin with its sign.
  const direct = await uploaded('id,a\n=1+1,2,3\n');
  await request(`POST ${imports}/${direct.id}/check`);
  await workThrough(importDeps(db));
  expect((await request(`GET ${imports}/${direct.id}/rejected.csv`)).text).toContain(`,"'=1+1,2,3"`);
});

test('encrypts a Stripe key, returns it to no caller, and deletes it when the import ends', async () => {
  const wrong = await request(`POST ${imports}`, { kind: 'stripe', key: 'pk_live_aaaaaaaaaaaa' });
  expect(wrong.json.errors).toMatchObject([{ field: 'key' }]);
  const key = 'rk_live_aSecretThatIsNeverShown';
  const { json, text } = await request(`POST ${imports}`, { kind: 'stripe', key });
  expect(text).not.toContain('aSecret');
  const stored = `SELECT encrypted_key FROM beckon.import WHERE id = $1`;
  const [row] = await db.query<{ encrypted_key: Buffer | null }>(stored, [json.data.id]);
  expect(row?.encrypted_key?.toString('latin1')).not.toContain('aSecret');
  const other = await request(`POST ${imports}/${json.data.id}/key`, { key: 'rk_test_another0000' });
  expect(other.status).toBe(200);
  await request(`POST ${imports}/${json.data.id}/cancel`);
  expect((await db.query(stored, [json.data.id]))[0]).toEqual({ encrypted_key: null });
});

test('rejects an unknown import, an invalid part and a body that is not bytes, and stores nothing', async () => {
  expect((await request(`GET ${imports}/nothing`)).status).toBe(404);
  const [first] = await listProjects(db);
  const otherProject = await createProject(db, { name: 'Elsewhere' });
  const job = await uploaded('id\nada\n');
  expect((await request(`GET /projects/${otherProject.id}/imports/${job.id}`)).status).toBe(404);
  expect(first?.id).toBe(projectId);
  expect((await put(job, 0, { bytes: '{}', type: 'application/json' })).status).toBe(422);
  expect((await put(job, 0, { bytes: Buffer.alloc(4_194_305) })).status).toBe(413);
  const large = { kind: 'users', name: 'a', size_bytes: 3 * 2 ** 30 };
  expect((await request(`POST ${imports}`, large)).json.errors).toMatchObject([{ field: 'size_bytes' }]);
  const bytesToList = await fetch(`${url}/api/dashboard${imports}`, {
    method: 'POST',
    headers: {
      origin: DASHBOARD_ORIGIN,
      'x-test-role': 'editor',
      'content-type': 'application/octet-stream',
    },
    body: new Uint8Array(10),
  });
  expect(bytesToList.status).toBe(415);
  expect(
    (await request(`POST ${imports}`, { kind: 'users', name: 'a', size_bytes: 1 }, 'viewer')).status,
  ).toBe(403);
});

test('limits the active imports of a project', async () => {
  const other = (await createProject(db, { name: 'Busy' })).id;
  const body = { kind: 'users', name: 'a', size_bytes: 1 };
  for (let n = 0; n < 20; n += 1)
    expect((await request(`POST /projects/${other}/imports`, body)).status).toBe(200);
  expect((await request(`POST /projects/${other}/imports`, body)).json.errors[0]?.message).toContain(
    '20 imports',
  );
});
