import { Stack, Text, TextInput, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi, useMay } from '../../api/index.ts';
import { Loaded, SaveBar, When } from '../../parts/index.ts';
import { useSettingsForm } from '../../parts/settings-form.ts';

const WORDS: Record<string, { label: string; description: string }> = {
  keep_events: { label: 'Events', description: 'What users did, as it was sent. 31 days at least.' },
  keep_stream: { label: 'Stream', description: 'Requests and changes of users, as Live shows them.' },
  keep_emails: { label: 'Letters', description: 'As they were handed over. 7 days at least.' },
  keep_dead: {
    label: 'Records that could not be applied',
    description: 'Until somebody retries or discards them.',
  },
};

/** How long each is kept. What is older goes by itself, a little at a time. */
export function Retention(): ReactNode {
  const may = useMay('admin');
  const form = useSettingsForm();
  const query = useApi('GET /projects/:project/data', {});
  return (
    <Stack gap="md" component="section" aria-labelledby="retention" maw={560}>
      <Title order={2} size="h5" id="retention">
        How long it is kept
      </Title>
      <Text size="sm" c="dimmed">
        A time such as 90d, or forever. A shorter time deletes what is older within the hour, and nothing
        brings it back.
      </Text>
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
    </Stack>
  );
}
