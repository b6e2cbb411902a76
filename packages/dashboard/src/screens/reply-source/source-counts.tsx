import type { ReplySource, ReplySourceResult } from '@beckon/contract/dashboard';
import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatCount } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { Section } from '../../parts/section.tsx';

const RESULTS: Record<ReplySourceResult, { label: string; hint: string }> = {
  received: { label: 'Received', hint: 'Replies, automatic replies, bounces and unsubscribes' },
  repeated: { label: 'Received before', hint: 'Nothing happened again' },
  unmatched: { label: 'Other emails', hint: 'They name no email of this project, and are not stored' },
  unproven: {
    label: 'Author not proven',
    hint: 'They name an email, but nothing proves that its recipient wrote them. Plus addressing proves it.',
  },
  no_action: { label: 'No action required', hint: 'Such as a notice of a delay' },
  full: { label: 'Too many replies', hint: 'Their email has 100 replies already' },
  unreadable: { label: 'Not readable', hint: 'They stay in the mailbox' },
  too_large: { label: 'Too large', hint: 'They have more than 10 MB, and stay in the mailbox' },
};

/** What became of the emails that were received. */
export function SourceCounts({ source: { counts } }: { source: ReplySource }): ReactNode {
  if (counts.length === 0) return null;
  return (
    <Section title="Emails" text="Since the reply source was set up.">
      <Stack gap="sm">
        {counts.map(({ result, emails }) => (
          <Group key={result} gap="sm" wrap="nowrap" align="baseline">
            <Text size="sm" fw={600} miw={32} style={{ fontVariantNumeric: 'tabular-nums' }}>
              {formatCount(emails)}
            </Text>
            <Stack gap={0} style={{ minWidth: 0 }}>
              <Text size="sm">{RESULTS[result].label}</Text>
              <Muted size="xs">{RESULTS[result].hint}</Muted>
            </Stack>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
