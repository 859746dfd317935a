#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <span>

#include "base/error.h"

namespace hone {
namespace {

void require(int ok) {
  if (ok != 1) throw Error("libcrypto cannot compute SHA-256; check the installation of OpenSSL");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

Sha256& Sha256::add(std::string_view bytes) {
  require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
  return *this;
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  require(EVP_DigestFinal_ex(context_.get(), digest.data(), &size));
  std::string text;
  for (const unsigned char byte : std::span(digest).first(size))
    text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace hone
