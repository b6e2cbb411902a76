import { Button, Group, Stack, Text } from '@mantine/core';
import type { DraftWhole } from '@beckon/contract/dashboard';
import { PenOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { Copy, useKept } from '../../parts/index.ts';
import { Notice } from '../../parts/notice.tsx';
import { TextBlock } from '../../parts/text-block.tsx';
import { keptAs, type Kept, PARTS } from './unsaved.tsx';

/** Text that was typed into a draft that can no longer be edited, to be copied. */
export function Stranded({ draft }: { draft: DraftWhole }): ReactNode {
  const [kept, , letGo] = useKept<Kept | null>(keptAs(draft.id), null);
  const typed = kept?.value;
  const parts = typed ? PARTS.filter(([part]) => typed[part] !== draft.content[part]) : [];
  if (!typed || parts.length === 0) return null;
  return (
    <Notice icon={PenOff} title="Your changes cannot be saved">
      <Stack gap="xs">
        <Text size="sm">{whyOf(draft)} Your text is kept in this tab until you discard it.</Text>
        {parts.map(([part, name]) => (
          <div key={part}>
            <Group gap={4}>
              <Text size="sm" fw={500}>
                {name}
              </Text>
              <Copy text={typed[part]} what={name} />
            </Group>
            <TextBlock text={typed[part]} label={`${name}, as you typed it`} />
          </div>
        ))}
        <Group>
          <Button size="compact-xs" variant="default" onClick={letGo}>
            Discard
          </Button>
        </Group>
      </Stack>
    </Notice>
  );
}

function whyOf({ ended_at: endedAt, state }: DraftWhole): string {
  if (endedAt !== null) return 'The draft was sent, skipped or canceled while you were editing.';
  if (state === 'sending') return 'The email is being sent.';
  return 'Your role no longer allows editing.';
}
