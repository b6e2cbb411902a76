import type { PostgresLog } from '../src/log.ts';

export const silentLog: PostgresLog = { debug() {}, info() {}, warn() {}, error() {} };
