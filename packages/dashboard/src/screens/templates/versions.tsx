import { Button, Modal, Stack, Text } from '@mantine/core';
import { FileText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TemplateDetails, TemplateVersion } from '@beckon/contract/dashboard';
import { useChange, useMay } from '../../api/index.ts';
import { DialogFoot, Empty, refused, notify, When } from '../../parts/index.ts';
import { Changes } from './publish-dialog.tsx';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';
import { VersionSelect } from '../../parts/version-select.tsx';

/** All published versions with their changes. */
export function TemplateVersions({ template }: { template: TemplateDetails }): ReactNode {
  const { versions } = template;
  const mayEdit = useMay('editor');
  if (versions.length === 0)
    return (
      <Empty icon={FileText} title="No published versions yet">
        Publish this template to create version 1.
      </Empty>
    );
  return (
    <Stack gap="md" maw={860}>
      <VersionSelect
        versions={versions}
        labelOf={({ version }) => (version === template.version ? `${version}, published` : String(version))}
        beside={(version) => (
          <>
            <Muted pb={8}>
              <When at={version.created_at} /> by {version.created_by}
            </Muted>
            {mayEdit && version.version !== template.version && (
              <RestoreVersion template={template} version={version} />
            )}
          </>
        )}
      >
        {(version, before) =>
          before ? (
            <>
              <Text size="sm">Compared with version {before.version}:</Text>
              <Changes before={before} after={version} />
            </>
          ) : (
            <Text size="sm">Oldest stored version: “{version.subject}”.</Text>
          )
        }
      </VersionSelect>
    </Stack>
  );
}

/** Copies a version into the editor. Replacing an unpublished version needs a confirmation. */
function RestoreVersion({
  template,
  version,
}: {
  template: TemplateDetails;
  version: TemplateVersion;
}): ReactNode {
  const [isDialogOpen, setDialogOpen] = useState(false);
  const { name, unpublished } = template;
  const { format, subject, preheader, body } = version;
  const restore = useChange('PUT /projects/:project/templates/:template/unpublished', {
    refreshes: ['GET /projects/:project/templates', 'GET /projects/:project/templates/:template'],
    onDone: () => notify('Version copied to the editor, not published'),
    onRefused: (error) => refused(error),
  });
  const put = (): void => {
    setDialogOpen(false);
    const email = { format, subject, preheader, body };
    restore.mutate({
      params: { template: name },
      body: { source: email, seen: unpublished?.saved_at ?? null },
    });
  };
  return (
    <>
      <ActButton change={restore} onClick={unpublished === null ? put : () => setDialogOpen(true)}>
        Copy to editor
      </ActButton>
      <Modal
        opened={isDialogOpen}
        onClose={() => setDialogOpen(false)}
        title={`Copy version ${version.version} to the editor?`}
      >
        <Text size="sm">This replaces the unpublished version saved by {unpublished?.saved_by}.</Text>
        <DialogFoot onCancel={() => setDialogOpen(false)}>
          <Button onClick={put}>Overwrite</Button>
        </DialogFoot>
      </Modal>
    </>
  );
}
