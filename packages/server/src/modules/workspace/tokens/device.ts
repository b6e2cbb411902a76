import { randomInt } from 'node:crypto';
import type { TokenScope } from '@beckon/contract/dashboard';
import { Fault } from '../../../platform/fault.ts';
import { hmacSha256, randomBase62 } from '../../../platform/crypto/hash.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { codesToDrop, DROPPED_AT_ONCE, WAITING_MAX } from './device-limit.ts';
import {
  countWaiting,
  decideDevice,
  deleteDevices,
  deleteWaiting,
  findDevice,
  findDeviceState,
  insertDevice,
  listWaiting,
  useDevice,
  type DeviceState,
  type DeviceQuery,
} from './store.ts';
import { checkLabel, readScopes } from './token.ts';

export type DeviceDeps = { tx: Tx; pepper: Uint8Array; now: number };

export const DEVICE_INTERVAL_S = 5;
const GOOD_FOR_MS = 10 * 60_000;
/** No vowels, so that a code spells no words, and no characters that look like digits. */
const CODE_CHARS = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_LENGTH = 8;
const SECRET_CHARS = 40;

/**
 * Stores a new pair of codes. A flood of requests does not prevent this. If too many codes wait, the oldest of the busiest networks are
 * dropped, and their programs get `expired`.
 */
export async function beginDevice(
  { tx, pepper, now }: DeviceDeps,
  input: { label: string; scopes: readonly string[]; address: string },
): Promise<{ deviceCode: string; userCode: string; expiresAt: Date }> {
  const { label, address } = input;
  checkLabel(label);
  const scopes = readScopes(input.scopes);
  await deleteDevices(tx, { before: new Date(now) });
  const [deviceCode, userCode] = [randomBase62(SECRET_CHARS), newUserCode()];
  const hashes = { deviceHash: hashOf(pepper, deviceCode), codeHash: hashOf(pepper, userCode) };
  const expiresAt = new Date(now + GOOD_FOR_MS);
  await insertDevice(tx, { ...hashes, label, scopes, address, requestedAt: new Date(now), expiresAt });
  await dropExcessCodes(tx, hashes.codeHash);
  return { deviceCode, userCode, expiresAt };
}

/** Drops codes if too many wait, but never the one that was just made. */
async function dropExcessCodes(tx: Tx, newest: Buffer): Promise<void> {
  if ((await countWaiting(tx)) <= WAITING_MAX) return;
  const codes = (await listWaiting(tx, WAITING_MAX + 1)).filter(({ codeHash }) => !codeHash.equals(newest));
  await deleteWaiting(tx, codesToDrop(codes, DROPPED_AT_ONCE));
}

/** Reads a code as people type it: in any case, with or without the hyphen. Returns null if it cannot be a code. */
export function readUserCode(text: string): string | null {
  const chars = text.toUpperCase().replaceAll(/[\s-]/g, '');
  const isCode = chars.length === CODE_LENGTH && Array.from(chars).every((char) => CODE_CHARS.includes(char));
  return isCode ? `${chars.slice(0, 4)}-${chars.slice(4)}` : null;
}

export async function lookAtDevice({ tx, pepper, now }: DeviceDeps, code: string): Promise<DeviceQuery> {
  const found = await findDevice(tx, { codeHash: hashOf(pepper, code), now: new Date(now) });
  return found ?? unknownCode();
}

export type DeviceDecision = {
  code: string;
  by: string;
  state: 'approved' | 'denied';
  scopes?: readonly string[];
};

/** Decides once; the first decision wins. It grants no scope that was not requested. */
export async function decideAboutDevice(
  deps: DeviceDeps,
  { code, by, state, scopes }: DeviceDecision,
): Promise<DeviceQuery> {
  const { tx, pepper, now } = deps;
  const device = await lookAtDevice(deps, code);
  const grantedScopes = readScopes(device.scopes.filter((scope) => scopes?.includes(scope) ?? true));
  const decided = { codeHash: hashOf(pepper, code), now: new Date(now), state, by, scopes: grantedScopes };
  const result = await decideDevice(tx, decided);
  if (result) return result;
  throw alreadyDecided((await lookAtDevice(deps, code)).state);
}

export type DeviceFetchResult =
  | { state: 'waiting' | 'denied' | 'expired' }
  | { state: 'approved'; label: string; scopes: TokenScope[]; memberId: string };

/** Returns `approved` only once. An unknown code is answered like an expired one. */
export async function fetchDevice(
  { tx, pepper, now }: DeviceDeps,
  deviceCode: string,
): Promise<DeviceFetchResult> {
  const key = { deviceHash: hashOf(pepper, deviceCode), now: new Date(now) };
  const used = await useDevice(tx, key);
  if (used) return { state: 'approved', ...used };
  const state = await findDeviceState(tx, key);
  return { state: state === 'waiting' || state === 'denied' ? state : 'expired' };
}

/** Hashes both codes with a pepper that is not in the table, because the short code could be guessed from its hash. */
function hashOf(pepper: Uint8Array, code: string): Buffer {
  return hmacSha256(pepper, 'device code', code);
}

function newUserCode(): string {
  const randomChar = (): string => CODE_CHARS[randomInt(CODE_CHARS.length)] ?? '';
  const chars = Array.from({ length: CODE_LENGTH }, randomChar).join('');
  return `${chars.slice(0, 4)}-${chars.slice(4)}`;
}

export function unknownCode(): never {
  const message =
    'This code is unknown or has expired after ten minutes. Run the command again to get a new one';
  throw new Fault('not_found', { details: [{ message, field: 'code' }] });
}

function alreadyDecided(state: DeviceState): Fault {
  const what = state === 'denied' ? 'denied' : 'approved';
  return new Fault('conflict', {
    details: [{ message: `This sign-in request was already ${what}`, field: 'code' }],
  });
}
