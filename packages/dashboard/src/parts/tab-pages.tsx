import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';

export type TabPage = { value: string; label: ReactNode; mark?: ReactNode; content: ReactNode };
type Props = { pages: TabPage[]; value?: string | undefined; onChange?: (value: string | undefined) => void };

/** Tabs, of which only the selected one is mounted. Without `value`, they keep the selection themselves; an unknown value selects the first. */
export function TabPages({ pages, value, onChange }: Props): ReactNode {
  const first = pages[0]?.value ?? null;
  const isKnown = pages.some((page) => page.value === value);
  return (
    <Tabs
      keepMounted={false}
      {...(onChange
        ? {
            value: isKnown && value !== undefined ? value : first,
            onChange: (next) => onChange(next ?? undefined),
          }
        : { defaultValue: first })}
    >
      <Tabs.List mb="md">
        {pages.map((page) => (
          <Tabs.Tab key={page.value} value={page.value} rightSection={page.mark}>
            {page.label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {pages.map((page) => (
        <Tabs.Panel key={page.value} value={page.value}>
          {page.content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
