import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { CellType } from '@beckon/contract/files';
import type { BodyOf, Import, ImportMapping, ImportSample } from '@beckon/contract/dashboard';
import { EXIT, type ExitCode, usage } from '../failure.ts';
import { fileResult } from '../files.ts';
import type { Context } from '../framework/context.ts';
import type { Shell } from '../shell.ts';
import { importView, progressText, sampleBlock } from './import-views.ts';

const CREATE = 'POST /projects/:project/imports';
const SHOW = 'GET /projects/:project/imports/:import';
const CHECK = 'POST /projects/:project/imports/:import/check';
const START = 'POST /projects/:project/imports/:import/start';
const CANCEL = 'POST /projects/:project/imports/:import/cancel';
const PART = 'PUT /projects/:project/imports/:import/parts/:part';
const MAPPING = 'PUT /projects/:project/imports/:import/mapping';
const SAMPLE = 'POST /projects/:project/imports/:import/sample';

export const FOLLOW_ROUTES = [CREATE, SHOW, CHECK, START, CANCEL] as const;
export const UPLOAD_ROUTES = [...FOLLOW_ROUTES, PART, MAPPING, SAMPLE] as const;

type Follow = Context<(typeof FOLLOW_ROUTES)[number]>;
type Upload = Context<(typeof UPLOAD_ROUTES)[number]>;

export type FileImport = {
  kind: 'users' | 'events';
  /** A path, or `-` for stdin. */
  file: string;
  /** Field → column, and field → type. */
  map: ReadonlyMap<string, string>;
  types: ReadonlyMap<string, CellType>;
  name?: string;
  equal_rows_are_one?: true;
  live?: number;
  dry_run?: true;
};

/** Uploads a file, lets the server check it, and imports it unless this is a dry run. */
export async function importFile(context: Upload, input: FileImport): Promise<ExitCode> {
  const { api, output, shell } = context;
  const { kind, file: path, live, dry_run } = input;
  const mapping = mappingOf(input);
  await using file = await openFile(shell, path);
  const { size, mtimeMs } = await file.stat();
  const name = path === '-' ? 'stdin' : basename(path);
  const body = { kind, name, size_bytes: size, file_modified_at: Math.round(mtimeMs) };
  // Awaited here, because the file is closed when this function returns.
  return await runImport(context, body, {
    live,
    dry_run,
    async upload({ id, part_bytes: partBytes, parts_total: parts }) {
      for (let part = 0; part < parts; part += 1) {
        await output.progress(`Uploading part ${part + 1} of ${parts}`);
        const read = await file.read(Buffer.alloc(partBytes), 0, partBytes, part * partBytes);
        const bytes = read.buffer.subarray(0, read.bytesRead);
        await api.open(PART, { params: { import: id, part: String(part) }, bytes });
      }
      const request = { params: { import: id }, body: { mapping } };
      await api.call(MAPPING, request);
      return dry_run ? (await api.call(SAMPLE, request)).data : null;
    },
  });
}

type Run = {
  live?: number | undefined;
  dry_run: true | undefined;
  /** Sends what the server checks; for a dry run it returns how the columns are read. */
  upload?: (job: Import) => Promise<ImportSample | null>;
};

/**
 * Creates an import, lets the server check it, and starts it unless this is a dry run. A failure leaves no import behind
 * that a member has to cancel; an interrupted command only says where the import is.
 */
export async function runImport(context: Follow, body: BodyOf<typeof CREATE>, run: Run): Promise<ExitCode> {
  const { api, output, signal } = context;
  const { data: job } = await api.call(CREATE, { body });
  const { id } = job;
  const params = { import: id };
  try {
    const sample = (await run.upload?.(job)) ?? null;
    return await checkAndStart(context, id, { ...run, sample });
  } catch (error) {
    if (signal.aborted)
      await output.note(
        `Interrupted. Import ${id} is still on the server. Show it: beckon imports show ${id}. Cancel it: beckon imports cancel ${id}`,
      );
    else if (!ENDED.has((await api.call(SHOW, { params })).data.state)) await api.call(CANCEL, { params });
    throw error;
  }
}

const ENDED = new Set<Import['state']>(['done', 'failed', 'canceled']);

async function checkAndStart(
  context: Follow,
  id: string,
  { live, dry_run, sample }: Omit<Run, 'upload'> & { sample: ImportSample | null },
): Promise<ExitCode> {
  const { api, output } = context;
  const params = { import: id };
  const checked = await waitUntilDone(context, (await api.call(CHECK, { params })).data);
  if (checked.state !== 'checked') {
    if (checked.state === 'ready') await api.call(CANCEL, { params });
    return finish(context, checked);
  }
  if (dry_run) {
    await api.call(CANCEL, { params });
    await output.value(checked, (job) => [
      ...importView(job),
      sample && sampleBlock(sample),
      'Dry run: no records were imported.',
    ]);
    return (checked.check?.rejected ?? 0) > 0 ? EXIT.partly : EXIT.ok;
  }
  const body = live === undefined ? {} : { live_events: live };
  return followImport(context, (await api.call(START, { params, body })).data);
}

/** Follows an import to its end or its next stop, and shows it. */
export async function followImport(context: Follow, job: Import): Promise<ExitCode> {
  return finish(context, await waitUntilDone(context, job));
}

async function finish({ output }: Follow, job: Import): Promise<ExitCode> {
  await output.value(job, importView);
  if (job.state !== 'done') return EXIT.failed;
  return job.progress.rejected > 0 ? EXIT.partly : EXIT.ok;
}

const OWNER_ONLY = 0o600;
const POLL_MS = 500;

async function waitUntilDone({ api, output, shell, signal }: Follow, begun: Import): Promise<Import> {
  let job = begun;
  while (job.state === 'checking' || job.state === 'running') {
    await output.progress(progressText(job));
    await shell.wait(POLL_MS, signal);
    job = (await api.call(SHOW, { params: { import: job.id } })).data;
  }
  return job;
}

/** Stdin is stored in a temporary file first, because the server needs its size. */
async function openFile({ cwd, stdin }: Shell, source: string): Promise<FileHandle> {
  if (source !== '-') return fileResult('read', source, open(resolve(cwd, source), 'r'));
  const path = join(tmpdir(), `beckon-import-${randomUUID()}`);
  const file = await open(path, 'wx+', OWNER_ONLY);
  await rm(path);
  await file.writeFile(stdin.chunks());
  return file;
}

function mappingOf({ map, types, name, equal_rows_are_one }: FileImport): ImportMapping {
  const unmapped = [...types.keys()].find((field) => !map.has(field));
  if (unmapped !== undefined)
    throw usage(`--types ${unmapped}: also name the column with --map ${unmapped}=<column>`, '--types');
  const columns = [...map].map(([field, column]): [string, ImportMapping['columns'][string]] => [
    column,
    { to: field, type: types.get(field) ?? 'auto' },
  ]);
  return {
    columns: Object.fromEntries(columns),
    ...(equal_rows_are_one ? { equal_rows_are_one } : {}),
    ...(name === undefined ? {} : { event_name: name }),
  };
}
