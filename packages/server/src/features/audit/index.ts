export type { AuditEntry, ListedEntry } from './entry.ts';
export { type AuditOf, countEntries, listEntries } from './reads.ts';
export { addEntry, adoptEntries, beginEntry, dropEntry, endEntry } from './store.ts';
