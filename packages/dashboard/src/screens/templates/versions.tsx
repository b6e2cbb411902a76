import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { FileText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TemplateShown } from '@beckon/contract/dashboard';
import { useChange, useMay } from '../../api/index.ts';
import { Empty, refused, told, When } from '../../parts/index.ts';
import { Changes } from './publish-dialog.tsx';

/** Every version that was published, and what each changed. */
export function TemplateVersions({ template }: { template: TemplateShown }): ReactNode {
  const { versions, name } = template;
  const mayEdit = useMay('editor');
  const [chosen, setChosen] = useState(String(versions[0]?.version ?? ''));
  const restore = useRestore();
  const at = versions.findIndex(({ version }) => String(version) === chosen);
  const [one, before] = [versions[at], versions[at + 1]];
  if (!one)
    return (
      <Empty icon={FileText} title="Nothing of your own was published yet">
        The first time that you publish it makes version 1.
      </Empty>
    );
  const { format, subject, preheader, body } = one;
  return (
    <Stack gap="md" maw={860}>
      <Group gap="md" align="end">
        <Select
          label="Version"
          value={chosen}
          onChange={(next) => setChosen(next ?? chosen)}
          allowDeselect={false}
          data={versions.map(({ version }) => ({
            value: String(version),
            label: version === template.version ? `${version}, published` : String(version),
          }))}
          w={180}
        />
        <Text size="sm" c="dimmed" pb={8}>
          <When at={one.created_at} /> by {one.created_by}
        </Text>
        {mayEdit && one.version !== template.version && (
          <Button
            variant="default"
            loading={restore.isPending}
            onClick={() =>
              restore.mutate({
                params: { template: name },
                body: { letter: { format, subject, preheader, body } },
              })
            }
          >
            Put it into the editor
          </Button>
        )}
      </Group>
      {before ? (
        <>
          <Text size="sm">Against version {before.version}:</Text>
          <Changes before={before} after={one} />
        </>
      ) : (
        <Text size="sm">It is the oldest that is shown: “{subject}”.</Text>
      )}
    </Stack>
  );
}

function useRestore() {
  return useChange('PUT /projects/:project/templates/:template/draft', {
    refreshes: ['GET /projects/:project/templates', 'GET /projects/:project/templates/:template'],
    onDone: () => told('It stands in the editor now, unpublished'),
    onRefused: (error) => refused(error),
  });
}
