import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ExcludedUsers, RuleEnrollmentPreview } from '@beckon/contract/dashboard';
import { Person } from '../../parts/index.ts';
import { previewWords } from './enrollment-words.ts';
import { Muted } from '../../parts/muted.tsx';
import { Bullets } from '../../parts/bullets.tsx';

/** How many members an enrollment would enroll and who, and why it would exclude the others. */
export function EnrollmentPreview({ preview }: { preview: RuleEnrollmentPreview }): ReactNode {
  const { first, would_enroll: enrolled, excluded } = preview;
  const more = enrolled - first.length;
  return (
    <Stack gap="xs">
      <Text size="sm">{previewWords(preview)}</Text>
      {first.length > 0 && (
        <Group gap="xs" wrap="wrap">
          {first.map(({ external_user_id: id, name }) => (
            <Person key={id} id={id} name={name} />
          ))}
          {more > 0 && <Muted>and {more.toLocaleString('en-GB')} more</Muted>}
        </Group>
      )}
      <Excluded excluded={excluded} />
    </Stack>
  );
}

export function Excluded({ excluded }: { excluded: ExcludedUsers[] }): ReactNode {
  if (excluded.length === 0) return null;
  return (
    <div>
      <Text size="sm">Not enrolled:</Text>
      <Bullets
        items={excluded.map(({ sentence, count }) => `${count.toLocaleString('en-GB')}: ${sentence}`)}
      />
    </div>
  );
}
