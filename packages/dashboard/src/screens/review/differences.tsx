import { NativeSelect, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { DraftContent, DraftVersions, DraftWhole } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/index.ts';
import { formatTime, Loaded, useZone } from '../../parts/index.ts';
import { WordDiff } from '../../parts/word-diff.tsx';

/** Compares a draft with its template today, and with its earlier versions. */
export function Differences({ draft }: { draft: DraftWhole }): ReactNode {
  const versions = useApi('GET /projects/:project/drafts/:draft/versions', { params: { draft: draft.id } });
  return (
    <Loaded query={versions} skeleton={<Skeleton height={240} />}>
      {({ data }) => <Compared draft={draft} versions={data} />}
    </Loaded>
  );
}

type Side = { name: string; content: DraftContent };

function Compared({ draft, versions }: { draft: DraftWhole; versions: DraftVersions }): ReactNode {
  const zone = useZone();
  const sides = sidesOf(versions, draft.content_hash, zone);
  const [name, setName] = useState(sides[0]?.name);
  const side = sides.find((entry) => entry.name === name) ?? sides[0];
  if (!side)
    return (
      <Text c="dimmed">
        No other version to compare with: the draft was not edited, and its template was deleted.
      </Text>
    );
  const parts = (['subject', 'preheader', 'body'] as const).filter(
    (part) => side.content[part] !== draft.content[part],
  );
  return (
    <Stack gap="md">
      <NativeSelect
        label="Compare with"
        value={side.name}
        onChange={(event) => setName(event.currentTarget.value)}
        data={sides.map((entry) => entry.name)}
        maw={420}
      />
      {parts.length === 0 && <Text>No differences.</Text>}
      {parts.map((part) => (
        <section key={part}>
          <Title order={2} size="h6" mb={4}>
            {PARTS[part]}
          </Title>
          <WordDiff
            before={side.content[part]}
            after={draft.content[part]}
            label={`${PARTS[part]}: changes`}
          />
        </section>
      ))}
    </Stack>
  );
}

const PARTS = { subject: 'Subject', preheader: 'Preview text', body: 'Body' };

function sidesOf({ template: email, versions }: DraftVersions, present: string, zone: string): Side[] {
  const before = versions
    .filter(({ content_hash: hash }) => hash !== present)
    .map(({ at, actor, content }) => ({
      name: `${formatTime(at, zone, 'long')}, ${actor === 'engine' ? 'first version' : `by ${actor}`}`,
      content,
    }));
  if (email === null) return before;
  const name = email.name === null ? 'Current text of the rule' : `Current template “${email.name}”`;
  return [{ name, content: email }, ...before];
}
