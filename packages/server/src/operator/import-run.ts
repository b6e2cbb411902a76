import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Import as Shown, ImportMapping, ImportType } from '@beckon/contract/dashboard';
import { Fault } from '../base/fault.ts';
import { idMaker } from '../base/ids.ts';
import { silentLog } from '../base/log.ts';
import { hasEnded, type Import, PART_BYTES, partsOf } from '../features/imports/index.ts';
import {
  askCheck,
  cancelImport,
  claimImport,
  createImport,
  foundImport,
  type ImportDeps,
  mapImport,
  pauseImport,
  putPart,
  showImport,
  startImport,
  workOn,
} from '../flows/imports/index.ts';
import { progressLine } from './import-output.ts';
import { readText } from './json-file.ts';
import { OPERATOR, type Opened, type Operator } from './operator.ts';

export type Stage = { operator: Operator; opened: Opened; projectId: number };

/** As it was typed. */
export type Bringing = {
  map?: string[];
  types?: string[];
  name?: string;
  equalRowsAreOne?: true;
  live?: string;
  dryRun?: true;
  unmatchedAsCustomers?: true;
};

/** The file goes into the database, is checked, and is brought in: by the server where one runs, and else by this command. */
export async function bringFile(
  stage: Stage,
  kind: 'users' | 'events',
  options: Bringing & { file: string },
): Promise<Shown> {
  const liveEvents = readCount(options.live);
  const mapping = mappingOf(options);
  const { opened, projectId } = stage;
  const { db, sealer } = opened;
  await using file = await openFile(options.file);
  const { size: sizeBytes, mtimeMs } = await file.stat();
  const wanted = { kind, name: basename(options.file), sizeBytes, fileModifiedAt: Math.round(mtimeMs) };
  const made = { db, newId: idMaker(db.clock), sealer };
  const one = await createImport(made, { projectId, createdBy: OPERATOR, ...wanted });
  return orCanceled(stage, one, async () => {
    await upload(stage, one, file);
    await mapImport(db, one, mapping);
    return checkAndBring(stage, one, { ...options, liveEvents });
  });
}

export async function bringStripe(stage: Stage, options: Bringing & { keyFile: string }): Promise<Shown> {
  const { opened, projectId } = stage;
  const { db, sealer } = opened;
  const key = (await readText(options.keyFile === '-' ? '/dev/stdin' : options.keyFile)).trim();
  const unmatchedAsCustomers = options.unmatchedAsCustomers ?? false;
  const made = { db, newId: idMaker(db.clock), sealer };
  const wanted = { kind: 'stripe' as const, key, unmatchedAsCustomers };
  const one = await createImport(made, { projectId, createdBy: OPERATOR, ...wanted });
  return orCanceled(stage, one, () => checkAndBring(stage, one, { ...options, liveEvents: null }));
}

/** What was refused on the way leaves nothing behind. */
async function orCanceled(stage: Stage, one: Import, work: () => Promise<Shown>): Promise<Shown> {
  const { db } = stage.opened;
  try {
    return await work();
  } catch (error) {
    const { state } = await foundImport(db, one);
    if (!hasEnded(state)) await cancelImport(db, one);
    throw error;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw invalid(
      'file',
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function upload({ operator, opened: { db } }: Stage, one: Import, file: FileHandle): Promise<void> {
  const parts = partsOf(one.sizeBytes ?? 0);
  for (let part = 0; part < parts; part += 1) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES, part * PART_BYTES);
    await putPart(db, one, { part, bytes: buffer.subarray(0, bytesRead) });
    if (part % PARTS_SAID === 0 && part > 0) operator.complain(`Part ${part} of ${parts} is in`);
  }
}

const PARTS_SAID = 16;

async function checkAndBring(
  stage: Stage,
  one: Import,
  { dryRun, liveEvents }: Bringing & { liveEvents: number | null },
): Promise<Shown> {
  const { db } = stage.opened;
  await askCheck(db, one);
  const checked = await followImport(stage, one);
  if (checked.state !== 'checked') return checked;
  if (dryRun) {
    await cancelImport(db, one);
    return checked;
  }
  await startImport(db, one, { liveEvents });
  return followImport(stage, one);
}

/** So long somebody else has time to take it; then this command does. */
const TAKEN_WITHIN_MS = 1_500;
const LOOK_EVERY_MS = 200;
const SAY_EVERY_MS = 2_000;
const PAUSE_MS = 250;

/** Until nothing more happens to it: told from time to time, paused by Ctrl-C, and worked on here where no server does it. */
export async function followImport(stage: Stage, one: Import): Promise<Shown> {
  const { operator, opened } = stage;
  const stop = new AbortController();
  const leave = operator.onSignal(() => stop.abort());
  const look = async (): Promise<Shown> => showImport(opened.db, await foundImport(opened.db, one), byName);
  let own: Promise<void> | null = null;
  let said = performance.now();
  let waited = performance.now();
  try {
    for (;;) {
      const shown = await look();
      if (shown.state !== 'checking' && shown.state !== 'running') return shown;
      if (stop.signal.aborted) return await paused(stage, one, own);
      if (performance.now() - said > SAY_EVERY_MS) {
        said = performance.now();
        operator.complain(progressLine(shown));
      }
      if (shown.progress.waits_for !== 'worker') waited = performance.now();
      if (!own && performance.now() - waited > TAKEN_WITHIN_MS) own = workHere(stage, one, stop.signal);
      await sleep(LOOK_EVERY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  } finally {
    leave();
    stop.abort();
    await own?.catch(() => undefined);
  }
}

const byName = (actor: string): string => actor;

async function workHere({ opened }: Stage, one: Import, signal: AbortSignal): Promise<void> {
  const { db, sealer, openStripe } = opened;
  const deps: ImportDeps = { db, sealer, openStripe, log: silentLog, pauseMs: PAUSE_MS, accepted: () => {} };
  while (!signal.aborted) {
    const claimed = await claimImport(deps, one.id);
    if (claimed) await workOn(deps, claimed, signal);
    else await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function paused({ operator, opened }: Stage, one: Import, own: Promise<void> | null): Promise<Shown> {
  await own?.catch(() => undefined);
  const stopped = await pauseImport(opened.db, one);
  operator.complain(nextOf(stopped));
  return showImport(opened.db, stopped, byName);
}

/** One that was still being checked is no paused one: nothing of it was taken, and no command goes on with it. */
function nextOf({ id, projectId, state }: Import): string {
  const which = `${id} --project ${projectId}`;
  return state === 'paused'
    ? `Go on with: import resume ${which}`
    : `Nothing was brought in. Go on in the dashboard, or end it with: import cancel ${which}`;
}

const TYPES: ImportType[] = ['auto', 'text', 'number', 'boolean', 'date', 'json'];

function mappingOf({ map = [], types = [], name, equalRowsAreOne }: Bringing): ImportMapping {
  const typed = new Map(types.map((text) => pairOf(text, 'types')));
  const columns: ImportMapping['columns'] = {};
  for (const [field, column] of map.map((text) => pairOf(text, 'map'))) {
    const type = typed.get(field) ?? 'auto';
    if (!TYPES.includes(type as ImportType)) throw invalid('types', `${type} is none of ${TYPES.join(', ')}`);
    columns[column] = { to: field, type: type as ImportType };
    typed.delete(field);
  }
  const [left] = typed.keys();
  if (left !== undefined)
    throw invalid('types', `--types ${left}: say with --map which column it is read from`);
  return {
    columns,
    ...(equalRowsAreOne && { equal_rows_are_one: true }),
    ...(name !== undefined && { event_name: name }),
  };
}

function pairOf(text: string, option: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw invalid(option, `--${option} ${text}: write it as field=value`);
}

function readCount(text: string | undefined): number | null {
  if (text === undefined) return null;
  const digits = text.replaceAll(/[,_]/g, '');
  if (/^\d{1,12}$/.test(digits)) return Number(digits);
  throw invalid('live', '--live takes the number of events that the check counts');
}

function invalid(field: string, message: string): Fault {
  return new Fault('validation_failed', { details: [{ field, message }] });
}
