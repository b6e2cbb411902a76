import { Paper, SimpleGrid, Text } from '@mantine/core';
import type { InsightGroup } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { formatSpan } from '../../parts/index.ts';
import { growth } from '../../parts/email-days.ts';
import { change, percent } from './numbers.ts';

type Total = { label: string; value: string; count?: string; against: string | null };

/** The totals of all emails, compared with the previous period. */
export function Totals({ total, before }: { total: InsightGroup; before: InsightGroup | null }): ReactNode {
  const rate = (name: keyof InsightGroup['rates'], label: string, count: number): Total => {
    const moved = before && change(total.rates[name], before.rates[name]);
    return {
      label,
      value: percent(total.rates[name]),
      count: count.toLocaleString('en-GB'),
      against: moved === null || moved === '+0.0' ? null : `${moved} points`,
    };
  };
  const { median_open_ms: median } = total;
  const was = before?.median_open_ms ?? null;
  const totals: Total[] = [
    {
      label: 'Sent',
      value: total.sent.toLocaleString('en-GB'),
      against: before && growth(total.sent, before.sent),
    },
    rate('delivered', 'Delivered', total.delivered),
    rate('opened', 'Opened by a human', total.opened),
    rate('clicked', 'Clicked by a human', total.clicked),
    rate('replied', 'Replied', total.replied),
    rate(
      'bounced',
      'Bounced',
      Object.values(total.bounced).reduce((sum, count) => sum + count, 0),
    ),
    rate('complained', 'Complained', total.complained),
    rate('unsubscribed', 'Unsubscribed', total.unsubscribed),
    rate('edited', 'Edited before sending', total.edited.edited),
    {
      label: 'Median time to open',
      value: median === null ? '–' : formatSpan(median),
      against: was === null ? null : `${formatSpan(was)} before`,
    },
  ];
  return (
    <SimpleGrid component="dl" cols={{ base: 2, sm: 3, lg: 5 }} m={0}>
      {totals.map(({ label, value, count, against }) => (
        <Paper key={label} withBorder p="sm">
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Text component="dd" size="lg" fw={600} m={0}>
            {value}
          </Text>
          <Text component="dd" size="xs" c="dimmed" m={0}>
            {[count, against].filter(Boolean).join(' · ') || '\u00A0'}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
}
