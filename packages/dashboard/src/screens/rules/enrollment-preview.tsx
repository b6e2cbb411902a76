import { Group, List, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ExcludedUsers, RuleEnrollmentPreview } from '@beckon/contract/dashboard';
import { Person } from '../../parts/index.ts';
import { previewWords } from './enrollment-words.ts';

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
          {more > 0 && (
            <Text size="sm" c="dimmed">
              and {more.toLocaleString('en-GB')} more
            </Text>
          )}
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
      <List size="sm" spacing={2}>
        {excluded.map(({ reason, sentence, count }) => (
          <List.Item key={reason}>
            {count.toLocaleString('en-GB')}: {sentence}
          </List.Item>
        ))}
      </List>
    </div>
  );
}
