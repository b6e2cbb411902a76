import type { PersonVersions, Touch } from '../audiences/index.ts';
import type { Model } from '../rules/index.ts';
import type { QueuedRecord, RecordBatch } from './apply-records.ts';

/** Selects the versions by what was sent. A duplicate event or an unchanged trait costs an unnecessary query. */
export function touchedVersions({ records }: RecordBatch, models: Map<number, Model>): PersonVersions[] {
  const touched = new Map<string, PersonVersions>();
  for (const record of records) {
    const { projectId, userId, person } = record;
    const audiences = models.get(projectId)?.audiences;
    if (!audiences) continue;
    const versions = audiences.touchedBy(touchOf(record));
    if (versions.length === 0) continue;
    const known = touched.get(person);
    if (!known) touched.set(person, { projectId, userId, versions });
    // Most records of a user touch the same versions.
    else if (known.versions !== versions) known.versions = [...new Set([...known.versions, ...versions])];
  }
  return [...touched.values()];
}

function touchOf(record: QueuedRecord): Touch {
  if (record.kind === 'events')
    return { isNew: false, events: [record.event.name], traits: [], email: false };
  const { traits = {}, email } = record.user;
  return { isNew: false, events: [], traits: Object.keys(traits), email: email !== undefined };
}
