// The version that a fake NCCL plays.
extern "C" const int fake_nccl_version;
const int fake_nccl_version = FAKE_NCCL_VERSION;
