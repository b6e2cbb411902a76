import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi, useMay } from '../../api/index.ts';
import { Loaded, SaveBar, When } from '../../parts/index.ts';
import { useSettingsForm } from '../../parts/settings-form.ts';
import { Titled } from '../../parts/titled.tsx';
import { Muted } from '../../parts/muted.tsx';

const WORDS: Record<string, { label: string; description: string }> = {
  keep_events: { label: 'Events', description: 'Events of users, as sent. Minimum: 31 days.' },
  keep_stream: {
    label: 'Activity stream',
    description: 'Requests and changes of users, shown under Activity.',
  },
  keep_emails: { label: 'Raw emails', description: 'Emails as they were sent. Minimum: 7 days.' },
  keep_dead: {
    label: 'Dead-lettered records',
    description: 'Records that could not be processed, until a member retries or discards them.',
  },
};

/** The retention of each kind of data. Older data is deleted automatically in small batches. */
export function Retention(): ReactNode {
  const may = useMay('admin');
  const form = useSettingsForm();
  const query = useApi('GET /projects/:project/data', {});
  return (
    <Titled id="retention" title="Retention" gap="md" maw={560}>
      <Muted>
        Enter a duration such as 90d, or forever. If you shorten it, older data is deleted within the hour,
        which cannot be undone.
      </Muted>
      <Loaded query={query}>
        {({ data }) => (
          <>
            {data.retention.map(({ setting, oldest_at: oldest }) => (
              <TextInput
                key={setting}
                label={WORDS[setting]?.label ?? setting}
                description={
                  <>
                    {WORDS[setting]?.description} Oldest: <When at={oldest} style="day" none="none yet" />
                  </>
                }
                value={form.text(setting)}
                onChange={(event) => form.set(setting, event.currentTarget.value)}
                error={form.fault(setting)}
                disabled={!may || form.query.data === undefined}
              />
            ))}
          </>
        )}
      </Loaded>
      <SaveBar dirty={form.dirty} saving={form.saving} onSave={form.save} onDiscard={form.discard} />
    </Titled>
  );
}
