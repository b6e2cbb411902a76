export {
  enrollmentItems,
  type EnrollmentStep,
  nextEnrollmentStep,
  recordEnrollment,
} from './enroll-batch.ts';
export { excludeLeavers } from './exclude-leavers.ts';
export { type EnrollmentPreview, previewEnrollment } from './preview-enrollment.ts';
export { startEnrollment, startEnrollmentIn } from './start-enrollment.ts';
